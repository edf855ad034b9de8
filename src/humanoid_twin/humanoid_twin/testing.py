"""The virtual robot for tests and benchmarks: its process, cables and control channel."""

import os
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Final, TypedDict, Unpack

from humanoid_control_common.robot.robot_description import share_folder
from humanoid_twin.assumptions import choices
from humanoid_twin.errors import RingError, TwinError
from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.ethercat.veth import veth_pair
from humanoid_twin.robot.actuators import load_actuators
from humanoid_twin.robot.control import RobotControl

_START_TIMEOUT: Final = 30.0  # [s] until a ring or robot answers
_END_TIMEOUT: Final = 10.0  # [s] it may take to end
_numbers = count()


@dataclass(frozen=True, slots=True)
class Ring:
    """A running ring."""

    interface: str  # the master's end of the veth pair
    control: RingControl
    process: subprocess.Popen[str]


@dataclass(frozen=True, slots=True)
class Robot:
    """A running robot."""

    interface: str  # the master's end of the ring's veth pair; empty without a ring
    cans: Mapping[str, Path]  # pty of each CAN adapter by bus, for python-can's interface `slcan`
    control: RobotControl
    socket: Path  # of the control channel
    process: subprocess.Popen[str]

    @property
    def can(self) -> Path:
        """The pty of a robot with one CAN bus."""
        (only,) = self.cans.values()
        return only


class _Options(TypedDict, total=False):
    mailbox_delay_ms: float  # from an SDO request to its answer
    clock: str  # "wall", or "stepped": time advances by 10 us a frame and by control.advance only
    capture: Path | None  # pcap file that gets every frame of the ring, request and answer
    seed: int  # of random losses
    assume: Mapping[str, object]  # assumptions about the eRobs, by name; see `assumptions`
    realtime: bool  # SCHED_FIFO where permitted, which is the default


class RingOptions(_Options, total=False):
    """Options of a ring besides its number of slaves; the defaults are the ring's."""

    joints: str  # "arms" of Prime, or "bench": flywheels without gravity and friction


class RobotOptions(_Options, total=False):
    """Options of a robot; the defaults are its own."""

    mountings: Path | None  # YAML file: direction and offset of each drive on its joint
    can_without_flags: bool  # the CAN adapter answers the command F with BEL


@contextmanager
def ring(slaves: int = 10, **options: Unpack[RingOptions]) -> Iterator[Ring]:
    """Run a ring of `slaves` drives on a veth pair of its own; end both in any case.

    Raises VethError where no veth pair can be made (needs CAP_NET_ADMIN), RingError if the ring
    does not start.
    """
    with ExitStack() as cleanup:
        (master, far_end), folder = _cable(cleanup), _folder(cleanup)
        command = [far_end, "--slaves", str(slaves), "--control", str(folder / "control")]
        # The ring has priority: a busy machine must not look like a lossy cable.
        command += _flags({"realtime": True, **options})
        process = _started("ring", "humanoid_twin.ethercat.main", command, cleanup)
        control = cleanup.enter_context(RingControl(folder / "control"))
        yield Ring(master, control, process)


@contextmanager
def robot(
    urdf: Path, actuators: Path | None = None, **options: Unpack[RobotOptions]
) -> Iterator[Robot]:
    """Run the robot of a URDF file, each bus on a veth pair or pty of its own; end all in any case.

    `actuators`: its file; None: Prime's. Raises VethError where no veth pair can be made (needs
    CAP_NET_ADMIN), TwinError if the robot does not start.
    """
    path = actuators or share_folder("humanoid_bringup_prime") / "config/prime_virtual_robot.yaml"
    buses = load_actuators(path)
    with ExitStack() as cleanup:
        folder = _folder(cleanup)
        cans, socket = {bus: folder / bus for bus in buses.can}, folder / "control"
        command = ["--urdf", str(urdf), "--actuators", str(path)]
        master = ""
        if buses.ring:
            master, far_end = _cable(cleanup)
            command += ["--ring", far_end]
        for bus, pty in cans.items():
            command += ["--can", f"{bus}={pty}"]
        command += ["--control", str(socket), *_flags({"realtime": True, **options})]
        process = _started("robot", "humanoid_twin.robot.main", command, cleanup)
        control = cleanup.enter_context(RobotControl(socket))
        yield Robot(master, cans, control, socket, process)


def _cable(cleanup: ExitStack) -> tuple[str, str]:
    """Return both ends of a new veth pair."""
    stem = f"hc{os.getpid() % 10**7}n{next(_numbers) % 1000}"
    ends = f"{stem}m", f"{stem}r"
    cleanup.enter_context(veth_pair(*ends))
    return ends


def _folder(cleanup: ExitStack) -> Path:
    return Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="hc_twin_")))


def _flags(options: Mapping[str, object]) -> list[str]:
    flags = []
    for name, value in options.items():
        if isinstance(value, Mapping):
            flags += [f"--{name}={choice}" for choice in choices(value)]
        elif value is not None and value is not False:
            flags += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return flags


def _started(
    name: str, module: str, options: list[str], cleanup: ExitStack
) -> subprocess.Popen[str]:
    """Start the process. Return it as soon as it answers."""
    command = [sys.executable, "-m", module, *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    cleanup.callback(_stop, process)
    assert process.stdout is not None  # a pipe
    readable, _, _ = select.select([process.stdout], [], [], _START_TIMEOUT)
    greeting = process.stdout.readline() if readable else ""
    if not greeting.startswith(f"{name}: "):
        error = RingError if name == "ring" else TwinError
        raise error(
            f"the {name} did not start: its output is {greeting!r}, and stderr has the reason"
        )
    return process


def _stop(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(_END_TIMEOUT)
    except subprocess.TimeoutExpired as error:
        process.kill()
        process.wait()
        raise TwinError(
            f"had to be killed, {_END_TIMEOUT:g} s after SIGTERM: {process.args!r}"
        ) from error
    finally:
        if process.stdout:
            process.stdout.close()
