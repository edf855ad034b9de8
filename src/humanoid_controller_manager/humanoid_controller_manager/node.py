"""The node `controller_manager`: configuration in, topics out. The control law is elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import SafetyStatus
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String

from humanoid_control_common.config import Document
from humanoid_control_common.safety import SafetyReport
from humanoid_controller_manager.callbacks import (
    SOURCE,
    CallbackExecutor,
    CallbackFailure,
    FailedCallbacks,
)
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.controller_sides import ControllerSides
from humanoid_controller_manager.diagnostics import SHORTEST, Diagnostician
from humanoid_controller_manager.diagnostics_message import diagnostic_arrays
from humanoid_controller_manager.ending import end_of
from humanoid_controller_manager.flight_recorder import FlightRecorder, flight_recorder
from humanoid_controller_manager.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware_loading import load_hardware
from humanoid_controller_manager.lifecycle import Lifecycle
from humanoid_controller_manager.limits import LimitStage
from humanoid_controller_manager.loop import ControlLoop
from humanoid_controller_manager.outbox import Outbox
from humanoid_controller_manager.parameters import (
    ManagerParameters,
    manager_parameters,
    node_document,
)
from humanoid_controller_manager.plugins import ROS_SIDES, find_plugin
from humanoid_controller_manager.realtime import calm_interpreter
from humanoid_controller_manager.registry import Registry, listeners_of, slots_of
from humanoid_controller_manager.ros_host import RosHost
from humanoid_controller_manager.ros_node import configured_node, parameters_of
from humanoid_controller_manager.runner import LoopRunner
from humanoid_controller_manager.safety_trip import SafetyTrip
from humanoid_controller_manager.slots import ControllerSlot
from humanoid_controller_manager.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.urdf import parse_robot_description

Attach: TypeAlias = Callable[[RosHost, object], SnapshotListener | None]

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class ControllerManagerNode:
    """The loop with its ROS surroundings.

    Args:
        files: the parameter files, for the places in error messages.

    Raises ConfigError when anything in URDF or parameters is wrong; nothing has moved then.
    """

    def __init__(self, files: Sequence[Document]) -> None:
        self.node = configured_node("controller_manager", services=True)
        self.files = files
        parameters = manager_parameters(self._document_of(self.node))
        self._initial = parameters.initial_controller
        self._backend = parameters.backend
        rate = float(parameters.update_rate)
        self.description = parse_robot_description(parameters.robot_description, rate)
        self.executor = CallbackExecutor()
        self.executor.add_node(self.node)
        self._failed_callbacks = FailedCallbacks()
        hardware = load_hardware(self.description)
        joints, limits = self.description.joints, self.description.limits
        self.robot = RobotFacts(joints, limits, rate, hardware.capabilities)
        self._simulated = hardware.simulates_time
        self.lifecycle = self._bring_up(parameters, hardware)
        self.registry = self.lifecycle.registry
        self.loop = ControlLoop(
            hardware,
            LimitStage(self.description.limits),
            slots_of(self.registry.records),
            safe_chain=parameters.safe_controllers,
            update_rate=rate,
            monotonic=time.monotonic,
        )
        safety_limit = parameters.velocity_safety_limit(joints, limits)
        self.loop.supervise(SafetyTrip(joints, limits, safety_limit, rate))
        self.runner = LoopRunner(self.loop, rate, self._publish)
        self.flight: FlightRecorder | None = None  # from the start on, where there is memory
        # As fast as possible for the loop must not mean a flood for everybody else.
        interval = 0.0 if self.runner.paced else 1.0 / rate
        self._hardware_listeners = self._attach_hardware()
        self._outbox = Outbox((), interval, realtime=self.runner.realtime)
        self._listen(listeners_of(self.registry.records))
        self.registry.connect(lambda: self.loop.snapshot.controller, self._exchange)

    def start(self) -> None:
        """Bring the hardware up and let the loop run. Raises what LoopRunner.start raises.

        Whatever is raised, the hardware is inactive then; notes say which joints may not be.
        """
        self._create_publishers()
        self._diagnostician = Diagnostician(
            self.loop, self.runner, lambda: self._outbox.overwritten
        )
        calm_interpreter()
        rate, urdf = self.robot.update_rate, self.description.urdf
        self.flight = flight_recorder(self.loop, self.runner, rate, urdf, backend=self._backend)
        self._outbox.start()
        try:
            self.runner.start(self._initial)
        except Exception:
            self._end_flight()  # nothing has flown
            raise
        try:
            self._begin_to_report()
        except BaseException as error:  # the joints may have torque
            if failure := end_of(self).failure:
                error.add_note(failure)
            raise

    def stop(self) -> None:
        """Stop the loop, then deactivate the hardware. Raises what LoopRunner.stop raises."""
        try:
            self.runner.stop()
        finally:
            self._outbox.stop()
            if self.runner.failure is None:  # else the black box has something to tell
                self._end_flight()

    def stamp(self, snapshot: Snapshot) -> Time:
        """ROS time of a tick's measurement: simulated where the hardware provides time.

        It is the same for all messages about a tick, however late they are published.
        """
        simulated = round(snapshot.now * 1e9)
        nanoseconds = simulated if self._simulated else snapshot.measured_at
        return Time(sec=nanoseconds // 1_000_000_000, nanosec=nanoseconds % 1_000_000_000)

    def publish_safety(self) -> None:
        """Publish the reports that changed; diagnostics too if something got better or worse."""
        snapshot = self.loop.snapshot
        for report in (*snapshot.reports, self._failed_callbacks.report(self._owner)):
            if self._published.get(report.source) == report:
                continue
            self._published[report.source] = report
            self._safety[report.source].publish(self._safety_message(report, snapshot))
        self._tell_of_changes()

    def close_plugin(self, failure: CallbackFailure) -> bool:
        """Execute no callback any more of the controller whose callback raised.

        False if it isn't a controller's: without its callbacks this process could not go on.
        """
        if not self._owner(failure.node):
            return False
        self.executor.remove_node(failure.node)
        self._failed_callbacks.close(failure)
        self.publish_safety()
        return True

    def note_failure(self, failure: CallbackFailure) -> None:
        """A callback raised that no motion depends on."""
        self._failed_callbacks.note(failure)
        self.publish_safety()

    def acknowledge_failures(self) -> None:
        """The operator has cleared what was wrong: closed plug-ins are a warning from now on."""
        self._failed_callbacks.acknowledge()
        self.publish_safety()

    # Inside.

    def _owner(self, node: Node | None) -> str:
        """The controller that has `node`; empty if none has it."""
        for name, record in self.registry.records.items():
            if node is not None and record.configured and record.configured.side.has(node):
                return name
        return ""

    def _end_flight(self) -> None:
        if self.flight is not None:
            self.flight.end()

    def _begin_to_report(self) -> None:
        self._tell_of_duties()
        self._tell_of_watchdogs()
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self.node.create_timer(1.0, self._report, clock=steady)
        self._later = self.node.create_timer(SHORTEST, self._look_later, clock=steady)
        self.publish_safety()

    def _report(self) -> None:
        self.publish_safety()
        self._publish_diagnostics()

    def _tell_of_changes(self) -> None:
        """Publish diagnostics if something got better or worse, as soon as it may be."""
        due = self._diagnostician.due()
        if due == 0.0:
            self._publish_diagnostics()
        elif due is not None:
            self._later.reset()

    def _look_later(self) -> None:
        self._later.cancel()  # it comes once
        self._tell_of_changes()

    def _tell_of_duties(self) -> None:
        for member in self.loop.hardware.members:
            duties = ", ".join(sorted(member.duties))
            self.node.get_logger().info(f"{member.info.name} takes on: {duties}")

    def _tell_of_watchdogs(self) -> None:
        members = self.loop.hardware.members
        if names := ", ".join(name for member in members for name in member.unwatched()):
            self.node.get_logger().warning(
                f"joints without a watchdog of their own: {names}: if this computer fails, they "
                "go on with their last set point and gains"
            )

    def _document_of(self, node: Node) -> Document:
        return node_document(node.get_name(), parameters_of(node), self.files)

    def _bring_up(self, parameters: ManagerParameters, hardware: HardwareGroup) -> Lifecycle:
        lifecycle = Lifecycle(
            Registry(parameters.safe_controllers),
            ControllerSides(self.node, self.files, self._host, self.executor),
            self.robot,
            hardware,
            asked_for=str,  # nobody is, before the loop runs
            in_executor=lambda function: function(),  # this is the executor's thread
        )
        lifecycle.bring_up(parameters.controllers)
        return lifecycle

    def _exchange(
        self, slots: Mapping[str, ControllerSlot], listeners: Sequence[SnapshotListener]
    ) -> None:
        self.loop.exchange_slots(slots)
        self._listen(listeners)

    def _listen(self, listeners: Sequence[SnapshotListener]) -> None:
        self._outbox.listen([*listeners, *self._hardware_listeners])

    def _attach_hardware(self) -> list[SnapshotListener]:
        listeners = []
        for member in self.loop.hardware.members:
            attach: Attach | None = find_plugin(ROS_SIDES, member.info.plugin)
            if attach is not None:
                listeners.append(attach(self._host(self.node), member.component))
        return [listener for listener in listeners if listener is not None]

    def _host(self, node: Node) -> RosHost:
        # The loop exists only after its plugins: its time is looked up when it is asked for.
        return RosHost(
            node, self.robot, self._now, self.stamp, self._joint_states_out, self._simulated
        )

    def _joint_states_out(self, snapshot: Snapshot) -> None:
        self.loop.hardware.joint_states_published(time.monotonic(), snapshot.measured)

    def _now(self) -> float:
        return self.runner.now()

    def _publish(self, snapshot: Snapshot) -> None:
        if self.flight is not None:
            self.flight.record(snapshot)
        self._outbox.put(snapshot)

    def _create_publishers(self) -> None:
        description = self.node.create_publisher(String, "/robot_description", LATCHED)
        description.publish(String(data=self.description.urdf))
        self._diagnostics = self.node.create_publisher(DiagnosticArray, "/diagnostics", 10)
        self._published: dict[str, SafetyReport] = {}
        sources = [*(info.name for info in self.description.blocks), SOURCE]
        self._safety = {
            source: self.node.create_publisher(SafetyStatus, "/safety_status", LATCHED)
            for source in sources
        }

    def _safety_message(self, report: SafetyReport, snapshot: Snapshot) -> SafetyStatus:
        message = SafetyStatus(
            level=int(report.level),
            source=report.source,
            flags=int(report.flags),
            message=report.message,
        )
        message.header.stamp = self.stamp(snapshot)
        return message

    def _publish_diagnostics(self) -> None:
        diagnoses = self._diagnostician.report()
        for array in diagnostic_arrays(self.stamp(self.loop.snapshot), diagnoses):
            self._diagnostics.publish(array)
