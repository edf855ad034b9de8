"""The node `erob_impedance_manager`: topics of the manager, batches to the component."""

from collections import deque
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from threading import Event
from typing import Final

from humanoid_control_msgs.msg import ControlMode, ImpedanceState
from rclpy.qos import QoSProfile
from rclpy.subscription import Subscription
from sensor_msgs.msg import JointState

from humanoid_bringup_prime.impedance.manager import ImpedanceManager
from humanoid_control_common.configuration.config import Document
from humanoid_control_common.configuration.parameter_files import parameter_files
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.machine.realtime import COMPANION_PRIORITY, make_thread_realtime
from humanoid_control_common.middleware.polled_topic import PolledTopic
from humanoid_control_common.middleware.steady_timer import create_steady_timer
from humanoid_control_common.robot.domain_lock import take_domain_lock
from humanoid_control_common.robot.robot_namespace import checked_namespace, namespace_of
from humanoid_controller_manager.ros.parameters import node_document, parse
from humanoid_controller_manager.ros.process.ros_session import (
    RosSession,
    exit_code,
    parameters_of,
    ros_session,
    spin_until,
)
from humanoid_devices_erob.impedance.batch_services import TIMEOUT, BatchServices
from humanoid_devices_erob.impedance.drives import Drives, ImpedanceParameters, mode_table
from humanoid_devices_erob.impedance.names import NODE
from humanoid_devices_erob.impedance.statements import StatementFilter
from humanoid_devices_erob.impedance.values import Batch, Reply, Summary
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate

STATE_PERIOD: Final = 0.1  # [s] between two states; each change is published, too
# Kept between two polls: those of a STATE_PERIOD at 1 kHz, and as many again.
JOINT_STATES: Final = QoSProfile(depth=200)
ALONE_FOR: Final = 0.5  # [s] without another manager's state before this one becomes active


class ImpedanceNode:
    """Connects ImpedanceManager with topics, batch services and time.

    Raises ConfigError for invalid parameters.
    """

    def __init__(self, files: Sequence[Document], ros: RosSession) -> None:
        self.node, self._machine = ros.node(NODE, services=True), ros.machine
        namespace = checked_namespace(self.node.get_namespace())
        document = node_document(NODE, parameters_of(self.node), files, namespace)
        if "joint_names" not in document.content:
            document = _completed(document)
            drives = document.content["joint_names"]
            self.node.get_logger().info(f"alone, without a bring-up: drives of {', '.join(drives)}")
        parameters = parse(ImpedanceParameters, NODE, document)
        self.node.describe(ImpedanceParameters, document)
        self._drives = Drives.of(parameters)
        gate = JointStatesGate(parameters.joint_names, 1.0 / parameters.update_rate)
        self._services = BatchServices(self.node)
        self._manager = ImpedanceManager(
            self._drives,
            mode_table(self._drives, parameters),
            gate,
            parallel=parameters.parallel_sdo,
            timeout=TIMEOUT,
        )
        self._statements = StatementFilter(follow_requests=parameters.follow_requests)
        self._replies: deque[tuple[Batch, Reply]] = deque()
        self._published: Summary | None = None
        self._begins = self._machine.clock() + ALONE_FOR
        self._others: Subscription | None = None
        self._create_interfaces()

    def _create_interfaces(self) -> None:
        node = self.node
        self._states = node.create_publisher(ImpedanceState, "~/state", 1)
        self._others = node.create_subscription(ImpedanceState, "~/state", _end_second_manager, 1)
        self._answered = node.create_guard_condition(self._take_replies)
        node.create_subscription(ControlMode, "control_mode", self._on_control_mode, 10)
        # They are needed only when the manager polls; each would wake the executor.
        self._joint_states = PolledTopic(
            node, JointState, "prime/joint_states", JOINT_STATES, self._machine
        )
        create_steady_timer(node, STATE_PERIOD, self._on_timer)

    def _on_control_mode(self, message: ControlMode) -> None:
        in_force = self._statements.of_message(message, self._machine.system_time_ns() * 1e-9)
        # Most statements repeat a mode whose gains the drives hold: the timer suffices then.
        if in_force is not None and self._manager.stated(in_force, self._machine.clock()):
            self._advance()

    def _on_timer(self) -> None:
        self._advance(publish=True)

    def _advance(self, *, publish: bool = False) -> None:
        """Send the batches that are due; publish the state if it has changed, or `publish`."""
        if self._machine.clock() < self._begins:
            return
        if self._others is not None:
            self.node.destroy_subscription(self._others)
            self._others = None
        for message, arrival in self._joint_states.take_all():
            self._manager.joints_seen(message.name, message.position, arrival)
        now = self._machine.clock()
        for batch in self._manager.next_batches(now, self._services.obstacle()):
            self._services.send(batch, partial(self._done, batch))
        summary = self._manager.summary(now)
        if publish or summary != self._published:
            self._publish(summary)

    def _done(self, batch: Batch, reply: Reply) -> None:
        """Queue the answer to a batch; called in any thread."""
        self._replies.append((batch, reply))
        self._answered.trigger()

    def _take_replies(self) -> None:
        while self._replies:
            self._manager.finished(*self._replies.popleft(), self._machine.clock())
        self._advance()

    def _publish(self, summary: Summary) -> None:
        self._published = summary
        stiffness, damping = self._drives.realized(summary.registers)
        position, velocity, integral = zip(*summary.registers, strict=True)
        message = ImpedanceState(
            gate_open=summary.gate_open,
            armed=summary.armed,
            confirmed=summary.confirmed,
            mode=int(summary.in_force.mode) if summary.in_force else 0,
            switch_number=summary.in_force.number if summary.in_force else 0,
            joint_names=list(self._drives.joint_names),
            position_gain=position,
            velocity_gain=velocity,
            velocity_integral=integral,
            stiffness=stiffness.tolist(),
            damping=damping.tolist(),
            status_message=summary.message,
        )
        message.header.stamp = self.node.get_clock().now().to_msg()
        self._states.publish(message)


def _end_second_manager(_: ImpedanceState) -> None:
    """End this manager: another one was first. Raises ConfigError."""
    raise ConfigError(
        f"another {NODE} runs on this ROS_DOMAIN_ID and namespace already: two would write the "
        "drives against each other, so this one ends"
    )


def _completed(given: Document) -> Document:
    """Return `given`, and where it has nothing the parameters of the installed robot.

    Raises ConfigError for wrong files.
    """
    # A bring-up gives everything: its processes need not load this.
    from humanoid_bringup.options import Backend, Options
    from humanoid_bringup.plan import impedance_parameters

    file = given.content.get("hardware_config")
    options = Options(backend=Backend.REAL, hardware_config=Path(file) if file else None)
    found = impedance_parameters(options)
    places = {**found.places, **given.places}
    return Document(found.name, {**found.content, **given.content}, places)


def run(arguments: Sequence[str], stop: Event) -> int:
    """Run the manager until `stop` is set. Returns the exit code.

    Wrong parameters, and another manager on this machine, end in a sentence on stderr and code 1.
    """
    return exit_code(partial(_run, arguments, stop))


def _run(arguments: Sequence[str], stop: Event) -> int:
    files = parameter_files(arguments)
    # Silence of 0.3 s leads to DAMPING, which a busy machine must not cause. Set before the
    # middleware starts its threads, which inherit the priority.
    make_thread_realtime(COMPANION_PRIORITY)
    # Of two that start at once on one machine each would hear the other too late; see ALONE_FOR.
    with take_domain_lock(NODE, namespace_of(arguments)), ros_session(arguments) as ros:
        manager = ImpedanceNode(files, ros)
        spin_until(ros, manager.node, stop.is_set)
    return 0
