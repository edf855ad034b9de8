"""ROS node of the calibration: passes joint states to the session, SDO batches to the component."""

from collections import deque
from functools import partial
from pathlib import Path
from typing import Any, Final

from humanoid_control_msgs.msg import ControlMode
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from humanoid_bringup.calibration.limp_drive import LimpDrives
from humanoid_bringup.calibration.robot import Robot, read_robot
from humanoid_bringup.calibration.session import CalibrationSession
from humanoid_control_common.errors import ConfigError, RobotError
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_control_common.middleware.steady_timer import create_steady_timer
from humanoid_devices_erob.impedance.batch_services import TIMEOUT, BatchServices
from humanoid_devices_erob.impedance.names import NODE, STATE_TOPIC
from humanoid_devices_erob.impedance.statements import StatementFilter
from humanoid_devices_erob.impedance.values import Batch, Reply
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate

STEP_PERIOD: Final = 0.05  # [s] between two checks of due actions, if no message causes one


class CalibrationLink:
    """Follows a running robot, on a node that the caller spins.

    `machine` has the clocks.
    """

    def __init__(self, node: Node, machine: Machine = LINUX) -> None:
        self._node, self._machine = node, machine
        self._urdf = ""
        self._described = 0.0  # [s] since the epoch, when the description was published
        self._statements = StatementFilter(follow_requests=False)
        self._session: CalibrationSession | None = None
        self._services: BatchServices | None = None
        self._replies: deque[tuple[Batch, Reply]] = deque()
        node.create_subscription(String, "robot_description", self._on_description, LATCHED)

    @property
    def described(self) -> bool:
        """Return True once the robot description has arrived."""
        return bool(self._urdf)

    @property
    def manager_beside(self) -> bool:
        """Return True if an impedance manager runs: it would overwrite the gains written here."""
        return bool(self._node.count_publishers(STATE_TOPIC))

    def robot(self) -> Robot:
        """Return the robot that is running. Raises ConfigError if it can't be calibrated."""
        robot = read_robot(self._urdf)
        if changed_after(robot.file, self._described):
            raise ConfigError(
                f"{robot.file} has changed since the robot started, so the robot uses another "
                "version: start the robot again"
            )
        return robot

    def begin(self, robot: Robot) -> CalibrationSession:
        """Start a session: pass it the robot's messages, and send its batches."""
        gate = JointStatesGate(list(robot.drives) or robot.joints.names, robot.period)
        self._services = BatchServices(self._node) if robot.drives else None
        limp_drives = LimpDrives(robot.drives.values(), gate, timeout=TIMEOUT)
        self._session = CalibrationSession(robot, limp_drives)
        node = self._node
        node.create_subscription(ControlMode, "control_mode", self._on_control_mode, 10)
        # Only the latest counts: a backlog would look like fresh measurements.
        node.create_subscription(JointState, "prime/joint_states", self._on_joint_states, 1)
        create_steady_timer(node, STEP_PERIOD, self.advance)
        return self._session

    def check_alone(self) -> None:
        """Check that no impedance manager runs. Raises RobotError."""
        if self.manager_beside:
            raise RobotError(
                f"{NODE} is running and would overwrite every gain written here: start the robot "
                "without it, as `hc up real --calibrate` does"
            )

    def advance(self) -> None:
        """Take what was answered, send what is due."""
        session, services = self._session, self._services
        if session is None or services is None:
            return
        now = self._machine.clock()
        while self._replies:
            session.limp_drives.finished(*self._replies.popleft(), now)
        batch = session.limp_drives.next_batch(now, session.mode_in_force, services.obstacle())
        if batch is not None:
            services.send(batch, partial(self._answered, batch))

    def _answered(self, batch: Batch, reply: Reply) -> None:
        self._replies.append((batch, reply))
        self.advance()

    def _on_description(self, message: Any, info: Any) -> None:
        self._urdf = message.data
        self._described = info["source_timestamp"] * 1e-9

    def _on_control_mode(self, message: Any) -> None:
        mode_in_force = self._statements.of_message(message, self._machine.system_time_ns() * 1e-9)
        if mode_in_force is not None and self._session is not None:
            self._session.mode_in_force = mode_in_force

    def _on_joint_states(self, message: Any) -> None:
        if self._session is not None:
            self._session.joints_seen(message.name, message.position, self._machine.clock())
            self.advance()


def changed_after(file: Path, moment: float) -> bool:
    """Return True if `file` was modified after `moment` [s since the epoch].

    Raises ConfigError if it isn't there, as on another machine than the robot's.
    """
    try:
        return file.stat().st_mtime > moment
    except OSError as error:
        raise ConfigError(
            f"{file}, which the robot uses, cannot be read here: {error.strerror}"
        ) from error
