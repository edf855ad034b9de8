"""The node `controller_manager`: builds the control loop from parameters, publishes its state."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import SafetyStatus
from rclpy.node import Node
from std_msgs.msg import String

from humanoid_control_common.configuration.config import Document
from humanoid_control_common.machine.realtime import calm_interpreter
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_control_common.middleware.steady_timer import create_steady_timer
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.robot_namespace import checked_namespace
from humanoid_control_common.rules.diagnosis import Diagnosis
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_control_common.tick_records.record_file import RecordStore
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.hardware_group import (
    HardwareGroup,
    MakeComponent,
    load_hardware,
)
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.loop.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.loop.tick_recorder import TickRecorder, tick_recorder
from humanoid_controller_manager.plugins import ROS_SIDES, find_plugin
from humanoid_controller_manager.ros.controller_nodes import ControllerNodes
from humanoid_controller_manager.ros.execution.callbacks import (
    SOURCE,
    CallbackFailure,
    FailedCallbacks,
)
from humanoid_controller_manager.ros.parameters import (
    ManagerParameters,
    applied_to_controller,
    manager_parameters,
    node_document,
)
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.process.ros_session import RosSession, parameters_of
from humanoid_controller_manager.ros.process.shutdown_report import stop_and_report
from humanoid_controller_manager.ros.topics.diagnostics import (
    SHORTEST,
    Diagnostician,
    diagnostic_arrays,
)
from humanoid_controller_manager.ros.topics.gravity_topics import GravityTopics
from humanoid_controller_manager.ros.topics.message_template import time_of
from humanoid_controller_manager.ros.topics.safety_messages import safety_message
from humanoid_controller_manager.ros.topics.snapshot_publisher import SnapshotPublisher
from humanoid_controller_manager.safety.gravity_compensation import (
    GravityCompensation,
    gravity_compensation,
)
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controller_manager.safety.link_shapes import LinkShapes, link_shapes
from humanoid_controller_manager.safety.measurement_check import MeasurementCheck
from humanoid_controller_manager.switching.lifecycle import Lifecycle
from humanoid_controller_manager.switching.registry import Registry, listeners_of, slots_of

# [s] between two waits for requests of services, too. It is less than a period of the statements:
# without other messages each wait includes them, and a request waits for nothing.
SERVICE_PERIOD: Final = 0.018


class ControllerManagerNode:
    """The control loop with its ROS surroundings.

    Args:
        files: the parameter files, for the places in error messages.
        ros: makes the nodes of the process.
        make_component: makes a hardware component of its class.
        records: where the ticks are recorded for the black box.

    Raises ConfigError for an error in URDF or parameters; nothing has moved then.
    """

    def __init__(
        self,
        files: Sequence[Document],
        ros: RosSession,
        make_component: MakeComponent = lambda plugin: plugin(),
        records: RecordStore = RecordStore(),  # noqa: B008 - without state
    ) -> None:
        self.node = ros.node("controller_manager", services=True)
        self.files, self._ros, self.machine = files, ros, ros.machine
        self._records = records
        self.namespace = checked_namespace(self.node.get_namespace())
        parameters = self._parameters()
        self._initial, self._backend = parameters.initial_controller, parameters.backend
        rate = float(parameters.update_rate)
        self.description = parse_robot_description(parameters.robot_description, rate)
        self.executor = ros.executor(SERVICE_PERIOD)
        self.executor.add_node(self.node)
        self._failed_callbacks = FailedCallbacks()
        hardware = load_hardware(self.description, make_component)
        hardware.hold_gains = parameters.hold_gains
        shapes = link_shapes(
            parameters.robot_description_semantic,
            self.description,
            parameters.self_collision_distance,
        )
        gravity = gravity_compensation(
            self.description, hardware, parameters.largest_gravity_bias, parameters.largest_payload
        )
        self.robot = self._robot_facts(rate, hardware, shapes, gravity)
        self._simulated = hardware.simulates_time
        self.lifecycle = self._bring_up(parameters, hardware)
        self.registry = self.lifecycle.registry
        self_collision = None if shapes is None else shapes.stage()
        limit_stage = LimitStage(self.description.limits, self_collision)
        self.loop = self._make_loop(parameters, hardware, limit_stage, gravity)
        self.loop_thread = LoopThread(self.loop, rate, self._publish, self.machine)
        self.also_diagnosed: list[Callable[[], Sequence[Diagnosis]]] = []  # beside the loop
        self.recorder: TickRecorder | None = None  # None before the start and without memory
        # A loop that runs as fast as possible must not flood the subscribers.
        interval = 0.0 if self.loop_thread.paced else 1.0 / rate
        self._own_listeners = [*self._attach_hardware(), *self._gravity_listener()]
        self.snapshot_publisher = SnapshotPublisher(
            interval, self.machine, realtime=self.loop_thread.realtime
        )
        self._set_listeners(listeners_of(self.registry.records))
        self.registry.connect(lambda: self.loop.snapshot.controllers, self._exchange)

    def start(self) -> None:
        """Bring the hardware up and start the loop. Raises what LoopThread.start raises.

        On any error the hardware is inactive; notes name the joints that may not be.
        """
        self._create_publishers()
        self._diagnostician = Diagnostician(
            self.loop,
            self.loop_thread,
            lambda: self.snapshot_publisher.overwritten,
            lambda: [it for diagnose in self.also_diagnosed for it in diagnose()],
            self.machine.clock,
        )
        calm_interpreter()
        rate, urdf = self.robot.update_rate, self.description.urdf
        self.recorder = tick_recorder(
            self.loop,
            self.loop_thread,
            rate,
            urdf,
            self._records,
            backend=self._backend,
            namespace=self.namespace,
            machine=self.machine,
        )
        self.snapshot_publisher.start()
        try:
            self.loop_thread.start(self._initial)
        except Exception:
            self._end_recorder()  # nothing has moved
            raise
        try:
            self._begin_to_report()
        except BaseException as error:  # the joints may have torque
            if failure := stop_and_report(self).failure:
                error.add_note(failure)
            raise

    def stop(self) -> None:
        """Stop the loop, then deactivate the hardware. Raises what LoopThread.stop raises."""
        try:
            self.loop_thread.stop()
        finally:
            self.snapshot_publisher.stop()
            if self.loop_thread.failure is None:  # else the black box needs the record
                self._end_recorder()

    def stamp_ns(self, snapshot: Snapshot) -> int:
        """Return the ROS time [ns] of a tick's measurement, simulated if the hardware has a time.

        It is the same for all messages about a tick, however late they are published.
        """
        return round(snapshot.now * 1e9) if self._simulated else snapshot.measured_at

    def stamp(self, snapshot: Snapshot) -> Time:
        """Return the ROS time of a tick's measurement."""
        return time_of(self.stamp_ns(snapshot))

    def publish_safety(self) -> None:
        """Publish the reports that changed."""
        snapshot = self.loop.snapshot
        for report in (*snapshot.reports, self._failed_callbacks.report(self._owner)):
            if self._published.get(report.source) != report:
                self._published[report.source] = report
                self._safety[report.source].publish(safety_message(report, self.stamp(snapshot)))

    def publish_changes(self) -> None:
        """Publish the diagnoses if they got better or worse, now or as soon as they may be."""
        due = self._diagnostician.due()
        if due == 0.0:
            self._publish_diagnostics()
        elif due is not None:
            self._retry.reset()

    def close_plugin(self, failure: CallbackFailure) -> bool:
        """Stop executing the callbacks of the controller whose callback raised.

        Return False if it is not a controller's: this process cannot run without its own.
        """
        if not self._owner(failure.node):
            return False
        self.executor.remove_node(failure.node)
        self._failed_callbacks.close(failure)
        self.publish_safety()
        self.publish_changes()
        return True

    def note_failure(self, failure: CallbackFailure) -> None:
        """Report the failure of a callback that no motion depends on."""
        self._failed_callbacks.note(failure)
        self.publish_safety()

    def acknowledge_failures(self) -> None:
        """Lower closed plug-ins to a warning: the operator continues without them."""
        self._failed_callbacks.acknowledge()
        self.publish_safety()
        self.publish_changes()

    # Building.

    def _parameters(self) -> ManagerParameters:
        given = parameters_of(self.node)
        document = node_document("controller_manager", given, self.files, self.namespace)
        parameters = manager_parameters(document)
        self.node.settable = applied_to_controller
        self.node.describe(ManagerParameters, document, under="controllers")
        return parameters

    def _robot_facts(
        self,
        update_rate: float,
        hardware: HardwareGroup,
        shapes: LinkShapes | None,
        gravity: GravityCompensation | str,
    ) -> RobotFacts:
        return RobotFacts(
            self.description.joints,
            self.description.limits,
            update_rate,
            hardware.capabilities,
            None if shapes is None else shapes.path_checks(self._positions),
            no_gravity=gravity if isinstance(gravity, str) else "",
            hold_gains=hardware.hold_gains,
        )

    def _positions(self) -> FloatArray:
        return self.loop.snapshot.state.position

    def _bring_up(self, parameters: ManagerParameters, hardware: HardwareGroup) -> Lifecycle:
        lifecycle = Lifecycle(
            Registry(parameters.safe_controllers),
            ControllerNodes(self.node, self.files, self._context, self.executor, self._ros),
            self.robot,
            hardware,
            pending_controller=str,  # none before the loop runs
            in_executor=lambda function: function(),  # this is the executor's thread
        )
        lifecycle.bring_up(parameters.controllers)
        return lifecycle

    def _make_loop(
        self,
        parameters: ManagerParameters,
        hardware: HardwareGroup,
        limit_stage: LimitStage,
        gravity: GravityCompensation | str,
    ) -> ControlLoop:
        robot = self.robot
        loop = ControlLoop(
            hardware,
            limit_stage,
            slots_of(self.registry.records),
            safe_chain=parameters.safe_controllers,
            update_rate=robot.update_rate,
            machine=self.machine,
        )
        if parameters.calibration:
            loop.allow_soft_modes_only()
        if isinstance(gravity, GravityCompensation):
            loop.gravity = gravity
        fastest = parameters.velocity_safety_limit(robot.joints, robot.limits)
        friction = parameters.static_friction(robot.joints, robot.limits)
        loop.set_measurement_check(
            MeasurementCheck(robot.joints, fastest, friction, robot.update_rate)
        )
        return loop

    def _attach_hardware(self) -> list[SnapshotListener]:
        listeners: list[SnapshotListener | None] = []
        for member in self.loop.hardware.members:
            attach = find_plugin(ROS_SIDES, member.info.plugin)
            if attach is not None:
                listeners.append(attach(self._context(self.node), member.component))
        return [listener for listener in listeners if listener is not None]

    def _gravity_listener(self) -> list[SnapshotListener]:
        loop = self.loop
        if loop.gravity is None:
            return []
        return [
            GravityTopics(self.node, loop.gravity, loop.limits, loop.joints, self.stamp).publish
        ]

    def _context(self, node: Node) -> PluginContext:
        # The loop is created after its plug-ins: they look its time up when they need it.
        return PluginContext(
            node=node,
            robot=self.robot,
            now=lambda: self.loop_thread.now(),  # noqa: PLW0108 - there is no thread yet
            stamp_ns=self.stamp_ns,
            published=lambda snapshot: self.loop.hardware.joint_states_published(
                self.machine.clock(), snapshot.measured
            ),
            simulated=self._simulated,
            machine=self.machine,
        )

    def _create_publishers(self) -> None:
        description = self.node.create_publisher(String, "robot_description", LATCHED)
        description.publish(String(data=self.description.urdf))
        self._diagnostics = self.node.create_publisher(DiagnosticArray, "diagnostics", 10)
        self._published: dict[str, SafetyReport] = {}
        sources = [*(info.name for info in self.description.blocks), SOURCE]
        self._safety = {
            source: self.node.create_publisher(SafetyStatus, "safety_status", LATCHED)
            for source in sources
        }

    # Snapshots.

    def _publish(self, snapshot: Snapshot) -> None:
        """Record and pass on a snapshot; in the loop's thread."""
        if self.recorder is not None:
            self.recorder.record(snapshot)
        self.snapshot_publisher.put(snapshot)

    def _exchange(
        self, slots: Mapping[str, ControllerSlot], listeners: Sequence[SnapshotListener]
    ) -> None:
        self.loop.exchange_slots(slots)
        self._set_listeners(listeners)

    def _set_listeners(self, listeners: Sequence[SnapshotListener]) -> None:
        self.snapshot_publisher.listen([*listeners, *self._own_listeners])

    def _end_recorder(self) -> None:
        if self.recorder is not None:
            self.recorder.end()

    # Reports.

    def _begin_to_report(self) -> None:
        logger, members = self.node.get_logger(), self.loop.hardware.members
        for member in members:
            duties = ", ".join(sorted(member.duties))
            logger.debug(f"{member.info.name} has the duties: {duties}")  # noqa: G004
        if names := ", ".join(
            name for member in members for name in member.joints_without_watchdog()
        ):
            logger.warning(
                f"joints without a watchdog of their own: {names}: if this computer fails, they "  # noqa: G004
                "continue with their last set point and gains"
            )
        create_steady_timer(self.node, 1.0, self._report)
        self._retry = create_steady_timer(self.node, SHORTEST, self._on_retry)
        self.publish_safety()
        self.publish_changes()

    def _report(self) -> None:
        self.publish_safety()
        self._publish_diagnostics()

    def _on_retry(self) -> None:
        self._retry.cancel()  # it fires once
        self.publish_changes()

    def _publish_diagnostics(self) -> None:
        diagnoses = self._diagnostician.report()
        stamp = self.stamp(self.loop.snapshot)
        for array in diagnostic_arrays(stamp, diagnoses, self.namespace):
            self._diagnostics.publish(array)

    def _owner(self, node: Node | None) -> str:
        """Return the controller that has `node`; empty if none has it."""
        for name, record in self.registry.records.items():
            if node is not None and record.configured and record.configured.side.node is node:
                return name
        return ""
