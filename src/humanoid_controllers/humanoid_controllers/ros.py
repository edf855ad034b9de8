"""Topics of the controllers: what each publishes and subscribes to."""

from __future__ import annotations

from collections.abc import Callable

from humanoid_control_msgs.msg import MITCommand
from humanoid_control_msgs.msg import StandbyState as StandbyStateMessage
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState as JointStateMessage

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.surface import COMMAND_INTERFACES
from humanoid_controller_manager.ros_host import RosHost, SnapshotListener
from humanoid_controller_manager.snapshot import Snapshot
from humanoid_controllers.joint_state_broadcaster import JointStateBroadcaster
from humanoid_controllers.remote import RemotePolicyController, checked_command
from humanoid_controllers.standby import StandbyController


def attach_joint_state_broadcaster(
    host: RosHost, broadcaster: JointStateBroadcaster
) -> SnapshotListener:
    """Publishes states and written commands of every tick."""
    topics = broadcaster.topics
    states = host.node.create_publisher(JointStateMessage, topics.joint_states_topic, 10)
    commands = host.node.create_publisher(MITCommand, topics.joint_commands_topic, 10)
    names = list(host.robot.joints.names)

    def publish(snapshot: Snapshot) -> None:
        state = JointStateMessage(name=names)
        state.header.stamp = host.stamp(snapshot)
        state.header.frame_id = topics.frame_id
        state.position, state.velocity, state.effort = snapshot.state_array.tolist()
        states.publish(state)
        if commands.get_subscription_count() > 0:
            command = MITCommand(header=state.header, joint_names=names)
            for interface, values in zip(COMMAND_INTERFACES, snapshot.command_array, strict=True):
                setattr(command, interface, values.tolist())
            commands.publish(command)

    return publish


def attach_standby(host: RosHost, controller: StandbyController) -> SnapshotListener:
    """Publishes StandbyState on `~/state` while active."""
    qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    states = host.node.create_publisher(StandbyStateMessage, "~/state", qos)
    name = host.node.get_name()

    def publish(snapshot: Snapshot) -> None:
        progress = snapshot.progress
        if snapshot.controller != name or progress is None:
            return
        message = StandbyStateMessage(
            current_segment=progress.current_segment,
            total_segments=progress.total_segments,
            progress=progress.fraction,
            is_finished=progress.finished,
        )
        message.header.stamp = host.stamp(snapshot)
        states.publish(message)

    return publish


def attach_remote(host: RosHost, controller: RemotePolicyController) -> None:
    """Subscribes to MITCommand on `~/command`; says once why a stream of commands is refused."""
    logger = host.node.get_logger()
    complaint = _OncePerText(logger.warning)

    def receive(message: MITCommand) -> None:
        values = {interface: getattr(message, interface) for interface in COMMAND_INTERFACES}
        try:
            command = checked_command(host.robot.joints, message.joint_names, values, host.now())
        except ControllerError as error:
            complaint(f"command refused: {error}")
            return
        controller.receive(command)

    host.node.create_subscription(MITCommand, "~/command", receive, 4)


class _OncePerText:
    """Says a sentence when it differs from the last one said."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._last = ""

    def __call__(self, text: str) -> None:
        if text != self._last:
            self._last = text
            self._say(text)
