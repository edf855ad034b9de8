"""The ROS sides of the controllers: their topics."""

from collections.abc import Sequence
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import MITCommand
from rclpy.node import Node
from sensor_msgs.msg import JointState as JointStateMessage
from std_msgs.msg import Header

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.log_on_change import LogOnChange
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, STATE_INTERFACES
from humanoid_control_common.robot.robot_namespace import checked_namespace, frame_prefix
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.ros.plugin_context import PluginContext, SnapshotListener
from humanoid_controller_manager.ros.topics.bounded_topic import (
    BoundedTopic,
    MessageRefusedError,
    message_size,
    refusal_log,
)
from humanoid_controller_manager.ros.topics.diagnostics import diagnostic_array
from humanoid_controller_manager.ros.topics.message_age import MessageAge, MessageInfo
from humanoid_controller_manager.ros.topics.message_template import MessageTemplate, nanoseconds
from humanoid_controller_manager.ros.topics.rows_reader import RowsReader
from humanoid_controllers.joint_state_broadcaster import JointStateBroadcaster
from humanoid_controllers.remote import RemotePolicyController, checked_command, command_array
from humanoid_controllers.remote_report import RemoteReport


def attach_joint_state_broadcaster(
    context: PluginContext, broadcaster: JointStateBroadcaster
) -> SnapshotListener:
    """Publish state and written command of every tick."""
    topics = broadcaster.topics
    namespace = checked_namespace(context.node.get_namespace())
    _require_relative(context.node, topics.joint_states_topic, topics.joint_commands_topic)
    states = context.node.create_publisher(JointStateMessage, topics.joint_states_topic, 10)
    commands = context.node.create_publisher(MITCommand, topics.joint_commands_topic, 10)
    names = list(context.robot.joints.names)
    header = Header(frame_id=f"{frame_prefix(namespace)}{topics.frame_id}")
    state = _template(JointStateMessage(header=header, name=names), STATE_INTERFACES, len(names))
    empty = MITCommand(header=header, joint_names=names)
    command = _template(empty, COMMAND_INTERFACES, len(names))

    def publish(snapshot: Snapshot) -> None:
        stamp = context.stamp_ns(snapshot)
        states.publish(state.filled(stamp, snapshot.state_array))
        context.published(snapshot)
        if commands.get_subscription_count() > 0:
            commands.publish(command.filled(stamp, snapshot.command_array))

    return publish


def _template(message: Any, interfaces: Sequence[str], joints: int) -> MessageTemplate:
    """Return the template of a message that has a field for each of `interfaces`."""
    for interface in interfaces:
        setattr(message, interface, [0.0] * joints)
    return MessageTemplate(message, len(interfaces), joints)


def _require_relative(node: Node, *topics: str) -> None:
    """Refuse absolute topics in a namespace, which two robots would share. Raises ConfigError."""
    for topic in topics:
        if topic.startswith("/") and node.get_namespace() != "/":
            raise ConfigError(
                f"{node.get_fully_qualified_name()}: topic '{topic}' would be that of every robot "
                f"of this ROS domain; give it a relative name, '{topic.lstrip('/')}'"
            )


def attach_remote(context: PluginContext, controller: RemotePolicyController) -> SnapshotListener:
    """Subscribe to MITCommand on `~/command`; log once why a stream of commands is refused.

    RemoteReport counts the commands for /diagnostics, and measures their stream: see
    StreamStatistics. Latency is measured where the sender fills header.stamp, not with simulated
    time.

    The arrival of a command is the time at which the middleware received it, not the time at which
    the executor calls `receive`: a command that waited would seem fresh although its sender may
    have ended. Some middlewares do not give that time (Cyclone DDS gives the time of the call), so
    the arrival is set earlier by the message's lateness, see MessageAge. With simulated time, which
    differs from the system's, the arrival is the time of the call.
    """
    side = _RemoteSide(context, controller)
    largest = command_size(len(context.robot.joints))
    topic = BoundedTopic(
        MITCommand,
        largest,
        side.receive,
        side.refuse_message,
        take_undecoded=side.receive_undecoded,
    )
    topic.subscribe(context.node, "~/command", 4)
    return side.publish


class _RemoteSide:
    """The topics of a remote controller: its commands, and their diagnosis. See attach_remote."""

    def __init__(self, context: PluginContext, controller: RemotePolicyController) -> None:
        node = context.node
        self._context, self._controller = context, controller
        self._machine, self._age = context.machine, MessageAge()
        self._warn_once = LogOnChange(node.get_logger().warning)
        self._log_refusal = refusal_log(node, "command refused")
        self._report = RemoteReport(lambda: int(node.count_publishers("~/command")))
        self._diagnostics = node.create_publisher(DiagnosticArray, "diagnostics", 10)
        self._name, self._namespace = node.get_name(), checked_namespace(node.get_namespace())
        self._read_frame("")

    def refuse_message(self, error: MessageRefusedError) -> None:
        """Log and count a command that was not decoded."""
        self._log_refusal(error)
        self._report.received(self._machine.clock(), str(error))

    def refuse(self, error: ControllerError) -> None:
        """Log and count a refused command."""
        self._warn_once(f"command refused: {error}")
        self._report.received(self._machine.clock(), str(error))

    def receive(self, message: MITCommand, info: MessageInfo) -> None:
        """Pass a command on to the controller, or refuse it."""
        arrival = self._arrival(nanoseconds(message.header.stamp), info)
        values = {interface: getattr(message, interface) for interface in COMMAND_INTERFACES}
        try:
            array = command_array(self._context.robot.joints, message.joint_names, values)
        except ControllerError as error:
            self.refuse(error)
            return
        if message.header.frame_id != self._frame_id:
            self._read_frame(message.header.frame_id)
        self._pass_on(array, arrival)

    def receive_undecoded(self, data: bytes, info: MessageInfo) -> bool:
        """Pass a serialized command on, or refuse it; return False if it must be decoded."""
        read = self._reader.read(data)
        if read is None:
            return False
        stamp, array = read
        self._pass_on(array, self._arrival(stamp, info))
        return True

    def publish(self, snapshot: Snapshot) -> None:
        """Publish the diagnosis of the commands, if one is due."""
        in_charge = snapshot.controller == self._name
        if not in_charge and snapshot.mode is Mode.REMOTE and not self._report.count:
            return  # REMOTE follows something else, and nobody commands this controller
        doing = self._controller.doing if in_charge else f"{self._name} is not in charge"
        diagnosis = self._report.due(doing, self._machine.clock())
        if diagnosis is not None:
            stamp = self._context.stamp(snapshot)
            self._diagnostics.publish(diagnostic_array(stamp, [diagnosis], self._namespace))

    def _read_frame(self, frame_id: str) -> None:
        """Read commands with this frame, of all joints in their order, undecoded."""
        names = self._context.robot.joints.names
        self._frame_id = frame_id
        self._reader = RowsReader(frame_id, names, len(COMMAND_INTERFACES))

    def _pass_on(self, array: FloatArray, arrival: float) -> None:
        try:
            command = checked_command(self._context.robot.joints, array, arrival)
        except ControllerError as error:
            self.refuse(error)
            return
        self._report.received(self._machine.clock())
        self._controller.receive(command)

    def _arrival(self, stamp: int, info: MessageInfo) -> float:
        """Return when a message arrived [s], on the loop's clock; count it in its stream.

        `stamp`: [ns] of its header.
        """
        now = self._machine.system_time_ns()
        self._report.stream.arrived(
            (info["received_timestamp"] or now) * 1e-9,
            info.get("publication_sequence_number"),
            stamp * 1e-9 if stamp and not self._context.simulated else None,
        )
        return self._age.arrival(info, self._context)


def command_size(joints: int) -> int:
    """Return the bytes that an MITCommand for so many joints takes at most."""
    return message_size(names=joints, numbers=len(COMMAND_INTERFACES) * joints)
