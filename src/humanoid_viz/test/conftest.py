"""A viewer started as by a user, and the topics of a robot without a control process."""

from __future__ import annotations

import re
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import rclpy
from humanoid_control_msgs.msg import ControlMode, MITCommand, SafetyStatus, StandbyState
from humanoid_control_msgs.srv import ClearFault
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool, String
from test_support.programs.prepared_programs import PreparedPrograms
from test_support.programs.started_process import GIVE_UP, StartedProcess, ended_at_last
from test_support.ros.ros_domains import on_reserved_domain

from humanoid_viz.state.model import RobotModel
from humanoid_viz.state.urdf import parse_urdf

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)

ARM_URDF = """
<robot name="arm">
  <material name="orange"><color rgba="1 0.35 0 1"/></material>
  <link name="base"><visual>
    <origin xyz="0 0 0.5"/><geometry><cylinder radius="0.15" length="1"/></geometry>
    <material name="orange"/>
  </visual></link>
  <link name="upper"><visual>
    <origin xyz="0 0 0.2"/><geometry><box size="0.5 0.5 0.5"/></geometry>
    <material name="orange"/>
  </visual></link>
  <link name="fore"><visual>
    <geometry><sphere radius="0.2"/></geometry><material name="orange"/>
  </visual></link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 1"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="10" velocity="3"/>
  </joint>
  <joint name="elbow" type="revolute">
    <parent link="upper"/><child link="fore"/><origin xyz="0 0 0.4"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="10" velocity="3"/>
  </joint>
</robot>
"""


def _wait_until(condition: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + GIVE_UP
    while not condition():
        assert time.monotonic() < deadline, f"never happened: {what}"
        threading.Event().wait(0.02)


@pytest.fixture
def wait_until() -> Callable[[Callable[[], bool], str], None]:
    """Wait until a condition holds; the error names the condition."""
    return _wait_until


@pytest.fixture
def arm_urdf() -> str:
    """An orange arm of two joints and three links, one of each shape."""
    return ARM_URDF


@pytest.fixture
def arm_model(arm_urdf: str) -> RobotModel:
    """The arm of `arm_urdf`."""
    return parse_urdf(arm_urdf)


@pytest.fixture
def domain() -> Iterator[int]:
    """A ROS domain of the test on this machine only."""
    with on_reserved_domain() as number:
        yield number


class ViewerProcess(StartedProcess):
    """A started viewer."""

    end_signal = signal.SIGTERM

    def __init__(self, log: Path, prepared: PreparedPrograms, *parameters: str) -> None:
        command = ["viewer", "--ros-args"]
        for parameter in parameters:
            command += ["-p", parameter]
        super().__init__(command, log, prepared)

    def logs(self, text: str) -> None:
        _wait_until(lambda: text in self.text() or self.process.poll() is not None, f"log: {text}")
        assert text in self.text()

    @property
    def url(self) -> str:
        self.logs("viewer: http")
        found = re.search(r"viewer: (http://\S+)", self.text())
        assert found is not None
        return found.group(1)


StartViewer = Callable[..., ViewerProcess]


@pytest.fixture
def start_viewer(domain: int, tmp_path: Path, prepared: PreparedPrograms) -> Iterator[StartViewer]:
    """Starts viewers with parameters like "port:=0"; ends them after the test."""
    with ended_at_last() as started:

        def start(*parameters: str) -> ViewerProcess:
            log = tmp_path / f"viewer_{len(started)}.txt"
            viewer = ViewerProcess(log, prepared, *parameters)
            started.append(viewer)
            return viewer

        yield start


class FakeRobot:
    """Publishes the topics of a control process at 50 Hz, with chosen answers."""

    JOINTS = ("shoulder", "elbow")

    def __init__(self) -> None:
        self.flowing = True
        self.position = 0.25  # [rad], of every joint
        self.mode = 1
        self.refusal = ""
        self.requests: list[int] = []
        self.cleared = 0
        self.stops: list[bool] = []
        self.context = Context()
        rclpy.init(context=self.context)
        self.node = Node("fake_robot", context=self.context)
        self._states = self.node.create_publisher(JointState, "/prime/joint_states", 10)
        self._commands = self.node.create_publisher(MITCommand, "/prime/joint_commands", 10)
        self._modes = self.node.create_publisher(ControlMode, "/control_mode", 10)
        self._standby = self.node.create_publisher(
            StandbyState, "/standby_controller/state", LATCHED
        )
        self._descriptions = self.node.create_publisher(String, "/robot_description", LATCHED)
        self._safety: dict[str, Publisher] = {}
        self.node.create_subscription(ControlMode, "/control_mode", self._on_mode, 10)
        self.node.create_service(ClearFault, "/mode_manager/clear_fault", self._on_clear)
        self.node.create_subscription(
            Bool, "/emergency_stop", lambda message: self.stops.append(message.data), 10
        )
        self.node.create_timer(0.02, self._publish)
        self._executor = SingleThreadedExecutor(context=self.context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._executor.spin)
        self._thread.start()

    def describe(self, urdf: str = ARM_URDF) -> None:
        self._descriptions.publish(String(data=urdf))

    def report(self, source: str, level: int, message: str = "", flags: int = 0) -> None:
        if source not in self._safety:
            self._safety[source] = self.node.create_publisher(
                SafetyStatus, "/safety_status", LATCHED
            )
        self._safety[source].publish(
            SafetyStatus(source=source, level=level, message=message, flags=flags)
        )

    def progress(self, progress: float) -> None:
        self._standby.publish(StandbyState(total_segments=2, progress=progress))

    def end(self) -> None:
        self._executor.shutdown()
        self._thread.join()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)

    def _on_mode(self, message: ControlMode) -> None:
        if not message.controller_name:
            self.requests.append(message.mode)

    def _on_clear(
        self, _: ClearFault.Request, response: ClearFault.Response
    ) -> ClearFault.Response:
        self.cleared += 1
        response.success, response.message = False, "only in DAMPING"
        return response

    def _publish(self) -> None:
        if not self.flowing:
            return
        n = len(self.JOINTS)
        self._states.publish(
            JointState(name=self.JOINTS, position=[self.position] * n, velocity=[0.5] * n)
        )
        self._commands.publish(
            MITCommand(
                joint_names=self.JOINTS,
                position=[0.125] * n,
                velocity=[0.0] * n,
                effort=[0.0] * n,
                stiffness=[20.0] * n,
                damping=[2.0] * n,
            )
        )
        self._modes.publish(
            ControlMode(
                mode=self.mode,
                controller_name="some_controller",
                status_message=self.refusal,
                reason_codes=["LOAD_REFUSED"] if self.refusal else [],
            )
        )


@pytest.fixture
def robot(domain: int) -> Iterator[FakeRobot]:
    """A robot that has not published its description yet."""
    robot = FakeRobot()
    yield robot
    robot.end()


@pytest.fixture
def add_silent_mode_manager(domain: int) -> Iterator[Callable[[], None]]:
    """Add a mode manager that does not answer."""
    context = Context()
    rclpy.init(context=context)
    node = Node("silent", context=context)

    def add() -> None:
        node.create_subscription(ControlMode, "/control_mode", lambda _: None, 10)
        node.create_service(ClearFault, "/mode_manager/clear_fault", lambda _, answer: answer)

    yield add
    node.destroy_node()
    rclpy.try_shutdown(context=context)
