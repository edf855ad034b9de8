"""A control process as a user starts it, and a client of its topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from humanoid_control_msgs.msg import ControlMode, SafetyStatus
from test_support.client import Client
from test_support.controllers import write_controllers
from test_support.operator import Participant
from test_support.programs.prepared_programs import PreparedPrograms
from test_support.programs.started_process import StartedProcess, ended_at_last
from test_support.ros.ros_domains import on_reserved_domain

from humanoid_bringup import executables
from humanoid_bringup.options import Backend, Options, Process
from humanoid_bringup.plan import plan


@pytest.fixture
def domain() -> Iterator[int]:
    """A ROS domain of the test on this machine only."""
    with on_reserved_domain() as number:
        yield number


@pytest.fixture(scope="session")
def running_type() -> type[StartedProcess]:
    """A started process."""
    return StartedProcess


@pytest.fixture(scope="session")
def command_line() -> Callable[[Process], list[str]]:
    """The command line of a process of a bring-up."""
    return executables.command_line


def labelled(processes: Sequence[Process], label: str) -> Process:
    """The one process of a bring-up with this label."""
    (found,) = (process for process in processes if process.label == label)
    return found


def _edit_description(file: Path, edit: Callable[[str], str]) -> None:
    content = yaml.safe_load(file.read_text())
    parameters = content["controller_manager"]["ros__parameters"]
    parameters["robot_description"] = edit(parameters["robot_description"])
    file.write_text(yaml.safe_dump(content))


StartControl = Callable[..., StartedProcess]


def prepared_control(
    folder: Path,
    backend: Backend = Backend.MOCK,
    edit_description: Callable[[str], str] = str,
    **options: Any,
) -> list[str]:
    """The command line of a control process with the given options; its files are in `folder`."""
    processes = plan(Options(backend=backend, viewer=False, **options), folder)
    process = labelled(processes, "control")
    _edit_description(process.parameter_files[-1], edit_description)
    return executables.command_line(process)


@pytest.fixture(scope="session")
def prepare_control() -> Callable[..., list[str]]:
    """Writes the files of a control process, which is not started."""
    return prepared_control


@contextmanager
def control_processes(folder: Path, prepared: PreparedPrograms | None) -> Iterator[StartControl]:
    """Starts control processes with the given options, see StartedProcess; ends them."""
    with ended_at_last() as started:

        def start(backend: Backend = Backend.MOCK, **options: Any) -> StartedProcess:
            own = folder / f"control_{len(started)}"
            own.mkdir()
            command = prepared_control(own, backend, **options)
            started.append(StartedProcess(command, own / "output.txt", prepared))
            return started[-1]

        yield start


@pytest.fixture
def start_control(
    domain: int, tmp_path: Path, prepared: PreparedPrograms
) -> Iterator[StartControl]:
    """Starts control processes with the given options; ends them after the test."""
    with control_processes(tmp_path, prepared) as start:
        yield start


@pytest.fixture
def start_control_anew(domain: int, tmp_path: Path) -> Iterator[StartControl]:
    """The same, for tests of what their start finds in this environment."""
    with control_processes(tmp_path, None) as start:
        yield start


@dataclass(frozen=True)
class SharedRobot:
    """A control process without drives that the tests of a module share."""

    domain: int
    control: StartedProcess

    @contextmanager
    def client(self) -> Iterator[Client]:
        """A client in its domain."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ROS_DOMAIN_ID", str(self.domain))
            instance = Client(Participant())
        with instance:
            instance.connect()
            yield instance


@contextmanager
def _shared_robot(
    folder: Path, prepared: PreparedPrograms, **options: Any
) -> Iterator[SharedRobot]:
    with on_reserved_domain() as domain, control_processes(folder, prepared) as start:
        yield SharedRobot(domain, start(**options))


@pytest.fixture(scope="module")
def shared_domain(
    tmp_path_factory: pytest.TempPathFactory, prepared: PreparedPrograms
) -> Iterator[SharedRobot]:
    """A robot for tests that leave it limp, as after its start."""
    with _shared_robot(tmp_path_factory.mktemp("shared"), prepared) as robot:
        yield robot


@pytest.fixture(scope="session")
def controllers_with() -> Callable[[Path, float], Path]:
    """Writes Prime's controllers with other durations of STANDBY."""
    return write_controllers


@pytest.fixture(scope="module")
def used_robot(
    tmp_path_factory: pytest.TempPathFactory, prepared: PreparedPrograms
) -> Iterator[SharedRobot]:
    """A robot for tests that change its mode; each way of its STANDBY takes 0.3 s."""
    folder = tmp_path_factory.mktemp("used")
    quick = write_controllers(folder, 0.3)
    with _shared_robot(folder, prepared, controllers_file=quick) as robot:
        yield robot


@pytest.fixture(scope="module")
def simulated_robot(
    tmp_path_factory: pytest.TempPathFactory, prepared: PreparedPrograms
) -> Iterator[SharedRobot]:
    """A robot in MuJoCo, as fast as possible, for tests that change its mode."""
    folder = tmp_path_factory.mktemp("simulated")
    options: Any = {"backend": Backend.MUJOCO, "real_time_factor": 0.0}
    with _shared_robot(folder, prepared, **options) as robot:
        yield robot


@pytest.fixture
def start_viewer(domain: int, tmp_path: Path) -> Iterator[Callable[[], StartedProcess]]:
    """Starts the viewer on a free port; ends it after the test."""
    with ended_at_last() as started:

        def start() -> StartedProcess:
            folder = tmp_path / "viewer"
            folder.mkdir()
            options = Options(backend=Backend.MOCK, viewer_port=0)
            process = labelled(plan(options, folder), "viewer")
            started.append(StartedProcess(executables.command_line(process), folder / "output.txt"))
            return started[-1]

        yield start


@pytest.fixture(scope="session")
def client_type() -> Callable[[], Client]:
    """A new client; it joins the domain of its making."""
    return lambda: Client(Participant())


@pytest.fixture
def client(domain: int) -> Iterator[Client]:
    """A client in the test's domain."""
    instance = Client(Participant())
    yield instance
    instance.close()


@pytest.fixture
def onlooker(shared_domain: SharedRobot) -> Iterator[Client]:
    """A client of the limp robot that the tests of a module share; they leave it limp."""
    with shared_domain.client() as instance:
        yield instance
        in_force = instance.now.mode, instance.now.switch_number
    assert in_force == (ControlMode.ZERO_TORQUE, 1), "others share it as it was after its start"


@pytest.fixture
def user(used_robot: SharedRobot) -> Iterator[Client]:
    """A client of a shared robot in ZERO_TORQUE, which is healthy and limp again after the test."""
    with used_robot.client() as instance:
        # The request is repeated until it is in force: then the mode manager receives every
        # request.
        instance.reach(ControlMode.DAMPING)
        instance.reach(ControlMode.ZERO_TORQUE)
        yield instance
        instance.report(SafetyStatus.OK, "")
        instance.reach(ControlMode.DAMPING)
        instance.clear_fault()
        instance.reach(ControlMode.ZERO_TORQUE)
