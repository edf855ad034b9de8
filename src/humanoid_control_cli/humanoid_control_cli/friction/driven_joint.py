"""One joint of a running robot, driven by a recording through its controller's topics."""

from collections.abc import Callable
from typing import Any, Final

from humanoid_control_msgs.msg import GravityState, MITCommand
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from humanoid_control_cli.payload.gravity_client import STATE as GRAVITY
from humanoid_control_common.errors import RobotError
from humanoid_recording.topics import JOINT_COMMANDS, JOINT_STATES
from humanoid_servo_controllers.friction_recording.controller import CONTROLLER
from humanoid_servo_controllers.friction_recording.recording import Recording, Sample

COMMANDS: Final = f"{CONTROLLER}/commands"


class DrivenJoint:
    """Sends the next command of a recording after every measurement of a joint.

    Args:
        node: in the robot's namespace; its callbacks run in one thread.
        joint: name.

    Attributes:
        measurements: number of measurements that have arrived.
        knows_gravity: whether the robot publishes the gravity torque of the joint.
        error: why the recording was aborted; None if it was not.
    """

    def __init__(self, node: Any, joint: str) -> None:
        self._joint = joint
        self._recording: Recording | None = None
        self._effort = self._gravity = 0.0  # [Nm] commanded, and of the model
        self.measurements = 0
        self.knows_gravity = False
        self.error: RobotError | None = None
        self._publisher = node.create_publisher(Float64MultiArray, COMMANDS, 4)
        listen: Callable[..., Any] = node.create_subscription
        listen(JointState, JOINT_STATES, self._on_state, 10)
        listen(MITCommand, JOINT_COMMANDS, self._on_command, 10)
        listen(GravityState, GRAVITY, self._on_gravity, 10)

    @property
    def has_subscriber(self) -> bool:
        """Return whether the controller has subscribed to the commands."""
        return bool(self._publisher.get_subscription_count() > 0)

    def drive(self, recording: Recording) -> None:
        """Follow `recording` from the next measurement on."""
        self.error = None
        self._recording = recording

    def stop(self) -> None:
        """Command nothing from now on: no effort, or no speed."""
        self._recording = None
        self._publish(0.0)

    # Inside.

    def _on_state(self, message: JointState) -> None:
        self.measurements += 1
        recording = self._recording
        if recording is None:
            return
        row = list(message.name).index(self._joint)
        stamp = message.header.stamp
        sample = Sample(
            stamp.sec + stamp.nanosec * 1e-9,
            message.position[row],
            message.velocity[row],
            self._effort,
            self._gravity,
        )
        try:
            self._publish(recording.step(sample))
        except RobotError as error:
            self.stop()
            self.error = error

    def _on_command(self, message: MITCommand) -> None:
        self._effort = message.effort[list(message.joint_names).index(self._joint)]

    def _on_gravity(self, message: GravityState) -> None:
        self.knows_gravity = True
        self._gravity = message.model[list(message.joint_names).index(self._joint)]

    def _publish(self, command: float) -> None:
        self._publisher.publish(Float64MultiArray(data=[float(command)]))
