"""Topics of the controllers: what each publishes and subscribes to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from time import monotonic, time_ns
from typing import Any, Final, TypedDict

from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import MITCommand
from humanoid_control_msgs.msg import StandbyState as StandbyStateMessage
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState as JointStateMessage

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.surface import COMMAND_INTERFACES
from humanoid_controller_manager.diagnostics_message import diagnostic_array
from humanoid_controller_manager.ros_host import RosHost, SnapshotListener
from humanoid_controller_manager.snapshot import Snapshot
from humanoid_controllers.joint_state_broadcaster import JointStateBroadcaster
from humanoid_controllers.message_age import MessageAge
from humanoid_controllers.remote import RemotePolicyController, checked_command
from humanoid_controllers.remote_report import RemoteReport
from humanoid_controllers.standby import StandbyController

LONGEST_WAIT: Final = 1.0  # [s] believed of a message: the system's clock may have been set


class _MessageInfo(TypedDict):
    """What of rclpy's information about a message is looked at."""

    received_timestamp: int  # [ns] of system time; 0: the middleware doesn't say
    source_timestamp: int  # [ns] of the sender's system time; 0: the same


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
        host.published(snapshot)
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


def attach_remote(host: RosHost, controller: RemotePolicyController) -> SnapshotListener:
    """Subscribes to MITCommand on `~/command`; says once why a stream of commands is refused.

    What became of the commands it says on /diagnostics, too, see RemoteReport.

    A command arrives when the middleware takes it in, not when the executor has time for it: else
    one that was left waiting would be fresh again, though its sender may be dead. Not every
    middleware says when that was (Cyclone DDS says when it was looked at), so it arrives the sooner
    the later it comes than its sender's others, see MessageAge. A simulator's time passes otherwise
    than the system's: there it arrives when it is looked at.
    """
    logger = host.node.get_logger()
    complaint = _OncePerText(logger.warning)
    age = MessageAge()
    report = RemoteReport()
    diagnostics = host.node.create_publisher(DiagnosticArray, "/diagnostics", 10)
    name = host.node.get_name()

    def receive(message: MITCommand, info: _MessageInfo) -> None:
        arrival = host.now()
        if not host.simulated:
            now = time_ns()
            late = age.lateness(_sender(info), info["source_timestamp"], now, monotonic())
            arrival -= max(waiting_time(info["received_timestamp"], now), late)
        values = {interface: getattr(message, interface) for interface in COMMAND_INTERFACES}
        try:
            command = checked_command(host.robot.joints, message.joint_names, values, arrival)
        except ControllerError as error:
            complaint(f"command refused: {error}")
            report.received(monotonic(), str(error))
            return
        report.received(monotonic())
        controller.receive(command)

    def publish(snapshot: Snapshot) -> None:
        doing = controller.doing if snapshot.controller == name else "not in charge"
        diagnosis = report.due(doing, monotonic())
        if diagnosis is not None:
            diagnostics.publish(diagnostic_array(host.stamp(snapshot), [diagnosis]))

    host.node.create_subscription(MITCommand, "~/command", receive, 4)
    return publish


def waiting_time(received: int, now: int) -> float:
    """How long [s] a message has waited, from 0 to LONGEST_WAIT.

    Args:
        received: when the middleware took it in, system time [ns]; 0 if that isn't known.
        now: system time [ns].
    """
    if received == 0:
        return 0.0
    return min(max((now - received) * 1e-9, 0.0), LONGEST_WAIT)


def _sender(info: Mapping[str, Any]) -> Hashable:
    """What tells senders apart; older rclpy tells nothing."""
    gid = info.get("publisher_gid")
    return None if gid is None else str(gid)


class _OncePerText:
    """Says a sentence when it differs from the last one said."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._last = ""

    def __call__(self, text: str) -> None:
        if text != self._last:
            self._last = text
            self._say(text)
