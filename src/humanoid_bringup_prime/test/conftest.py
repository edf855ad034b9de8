"""A control process as a user starts it, and a client that talks to it over topics."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import rclpy
import yaml
from ament_index_python.packages import get_package_prefix
from humanoid_control_msgs.msg import (
    ControlMode,
    ImpedanceState,
    MITCommand,
    SafetyStatus,
    StandbyState,
)
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.utilities import get_rmw_implementation_identifier
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from humanoid_bringup_prime.bringup import plan
from humanoid_bringup_prime.options import Backend, Options, Process
from humanoid_control_common.middleware import tune_middleware

GIVE_UP = 30.0  # [s] dead-man's switch of every wait, far above what is expected
LATCHED = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def domain(monkeypatch: pytest.MonkeyPatch) -> int:
    """A ROS domain of this test's own, on this machine only."""
    number = random.randrange(1, 102)
    monkeypatch.setenv("ROS_DOMAIN_ID", str(number))
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return number


class Running:
    """A started process; its output is in `log`."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        with log.open("w") as file:
            self.process = subprocess.Popen(
                command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
            )

    def text(self) -> str:
        return self.log.read_text()

    def wait(self) -> int:
        return self.process.wait(timeout=GIVE_UP)

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(timeout=GIVE_UP)
            except subprocess.TimeoutExpired:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()


def command_of(process: Process) -> list[str]:
    """What `ros2 run` would execute."""
    prefix = Path(get_package_prefix(process.package))
    command = [str(prefix / "lib" / process.package / process.executable), "--ros-args"]
    for file in process.parameter_files:
        command += ["--params-file", str(file)]
    return command


@pytest.fixture(scope="session")
def running_type() -> type[Running]:
    """A started process."""
    return Running


@pytest.fixture(scope="session")
def command_line() -> Callable[[Process], list[str]]:
    """The command line of a process of a bring-up."""
    return command_of


def _edit_description(file: Path, edit: Callable[[str], str]) -> None:
    content = yaml.safe_load(file.read_text())
    parameters = content["controller_manager"]["ros__parameters"]
    parameters["robot_description"] = edit(parameters["robot_description"])
    file.write_text(yaml.safe_dump(content))


# As IgH's program answers: an upload in hexadecimal and decimal, an abort on stderr and code 1.
PROGRAM = """#!/bin/sh
echo "$@" >> "$FAKE_RING/calls"
[ "$1 $4 $5" = "-p --type int32" ] || exit 2
file="$FAKE_RING/$2_$6_$7"
if [ -e "$file.abort" ]; then
  echo "SDO transfer aborted with code 0x06020000" >&2
  exit 1
fi
if [ "$3" = download ]; then
  [ -e "$file.fixed" ] || echo "$8" > "$file"
else
  value=0
  [ -e "$file" ] && read -r value < "$file"
  printf '0x%08x %d\\n' $((value & 0xffffffff)) "$value"
fi
"""


class FakeRing:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def calls(self) -> list[list[str]]:
        file = self.folder / "calls"
        return [line.split() for line in file.read_text().splitlines()] if file.exists() else []

    def mark(self, slave: int, register: tuple[int, int], what: str) -> None:
        (self.folder / f"{slave}_0x{register[0]:04X}_{register[1]}.{what}").touch()

    def value(self, slave: int, register: tuple[int, int]) -> int:
        return int((self.folder / f"{slave}_0x{register[0]:04X}_{register[1]}").read_text())


@pytest.fixture
def ring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeRing:
    program = tmp_path / "bin" / "ethercat"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    folder = tmp_path / "ring"
    folder.mkdir()
    monkeypatch.setenv("FAKE_RING", str(folder))
    return FakeRing(folder)


StartControl = Callable[..., Running]


@pytest.fixture
def start_control(domain: int, tmp_path: Path) -> Iterator[StartControl]:
    """Starts control processes with the given options; ends them after the test."""
    started: list[Running] = []

    def start(
        backend: Backend = Backend.MOCK,
        edit_description: Callable[[str], str] = str,
        **options: Any,
    ) -> Running:
        folder = tmp_path / f"control_{len(started)}"
        folder.mkdir()
        process = plan(Options(backend=backend, viewer=False, **options), folder)[0]
        _edit_description(process.parameter_files[-1], edit_description)
        running = Running(command_of(process), folder / "output.txt")
        started.append(running)
        return running

    yield start
    for running in started:
        running.end()


@pytest.fixture
def start_viewer(domain: int, tmp_path: Path) -> Iterator[Callable[[], Running]]:
    """Starts the viewer on a free port; ends it after the test."""
    started: list[Running] = []

    def start() -> Running:
        folder = tmp_path / "viewer"
        folder.mkdir()
        options = Options(backend=Backend.MOCK, viewer_port=0)
        running = Running(command_of(plan(options, folder)[1]), folder / "output.txt")
        started.append(running)
        return running

    yield start
    for running in started:
        running.end()


class Client:
    """What an operator's program sees of the robot."""

    def __init__(self) -> None:
        self.context = Context()
        before = dict(os.environ)
        tune_middleware(get_rmw_implementation_identifier())
        rclpy.init(context=self.context)
        os.environ.clear()
        os.environ.update(before)  # what is started from here chooses for itself
        self.node = Node("test_client", context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.statements: list[ControlMode] = []
        self.joint_states: list[JointState] = []
        self.commands: list[MITCommand] = []
        self.impedance: list[ImpedanceState] = []
        topic = "/erob_impedance_manager/state"
        self._subscribe(ImpedanceState, topic, self.impedance.append)
        self._subscribe(ControlMode, "/control_mode", self._on_mode)
        self._subscribe(JointState, "/prime/joint_states", self.joint_states.append)
        self._subscribe(MITCommand, "/prime/joint_commands", self.commands.append)
        self._requests = self.node.create_publisher(ControlMode, "/control_mode", 10)
        self._safety = self.node.create_publisher(SafetyStatus, "/safety_status", LATCHED)

    def _subscribe(self, kind: type, topic: str, callback: Callable[[Any], object]) -> None:
        self.node.create_subscription(kind, topic, lambda message: callback(message) and None, 10)

    def _on_mode(self, message: ControlMode) -> None:
        if message.controller_name:
            self.statements.append(message)

    @property
    def now(self) -> ControlMode:
        """The latest statement."""
        return self.statements[-1]

    def until(self, condition: Callable[[], object], what: str) -> None:
        """Spin until `condition` holds."""
        deadline = time.monotonic() + GIVE_UP
        while not condition():
            assert time.monotonic() < deadline, f"waited {GIVE_UP} s in vain for {what}"
            self.executor.spin_once(timeout_sec=0.1)

    def latched(self, kind: type, topic: str, count: int = 1) -> list[Any]:
        """`count` messages that a late subscriber still gets."""
        received: list[Any] = []
        subscription = self.node.create_subscription(kind, topic, received.append, LATCHED)
        self.until(lambda: len(received) >= count, f"{count} messages on {topic}")
        self.node.destroy_subscription(subscription)
        return received

    def connect(self) -> None:
        """Wait until the control process is there and listens."""
        self.until(
            lambda: self.statements and self._requests.get_subscription_count() >= 2,
            "the control process",
        )

    def request(self, mode: int) -> None:
        """Publish a request as `ros2 topic pub --once` does, and see statements made after it."""
        self._requests.publish(ControlMode(mode=mode))
        self.next_statements()

    def next_statements(self, count: int = 3) -> None:
        """Wait for statements made from now on."""
        seen = len(self.statements)
        self.until(lambda: len(self.statements) >= seen + count, "fresh statements")

    def reach(self, mode: int) -> None:
        """Request `mode` and wait until it is in force."""
        self._requests.publish(ControlMode(mode=mode))
        self.until(lambda: self.now.mode == mode, f"mode {mode}, now {self.now}")

    def confirmed(self) -> ImpedanceState:
        """The first state of the impedance manager that confirms what is in force."""

        def found() -> bool:
            if not (self.impedance and self.statements):
                return False
            state, now = self.impedance[-1], self.now
            in_force = (state.mode, state.switch_number) == (now.mode, now.switch_number)
            return bool(state.confirmed and in_force)

        self.until(found, "the impedance to be confirmed")
        return self.impedance[-1]

    def enter(self, mode: int) -> None:
        """Ask until `mode` is in force, before and after which the impedance is confirmed.

        Once isn't enough: an answer may need the state of the tick before.
        """
        self.confirmed()

        def accepted() -> bool:
            if self.now.mode != mode:
                self.request(mode)
            return bool(self.now.mode == mode)

        self.until(accepted, f"mode {mode}")
        self.confirmed()

    def finish_standby(self) -> None:
        """Wait until the STANDBY sequence has come to its end."""
        self.until(
            lambda: self.latched(StandbyState, "/standby_controller/state")[0].is_finished,
            "the end of STANDBY",
        )

    def report(self, level: int, message: str) -> None:
        """Publish the safety status of a source of our own."""
        self._safety.publish(SafetyStatus(level=level, source="bench", message=message))

    def call(self, service: str) -> Trigger.Response:
        """Call a Trigger service."""
        client = self.node.create_client(Trigger, service)
        self.until(client.service_is_ready, service)
        future = client.call_async(Trigger.Request())
        self.until(future.done, f"an answer of {service}")
        self.node.destroy_client(client)
        return future.result()

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


@pytest.fixture(scope="session")
def client_type() -> type[Client]:
    """A client; it joins the domain of its making."""
    return Client


@pytest.fixture
def client(domain: int) -> Iterator[Client]:
    """A client in the test's domain."""
    instance = Client()
    yield instance
    instance.close()
