"""The node `mode_manager`: topics and services of the mode manager."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any, Final

from humanoid_control_msgs.msg import ControlMode, ImpedanceState, SafetyStatus
from humanoid_control_msgs.srv import ClearFault
from pydantic import Field, PositiveFloat
from rclpy.qos import QoSProfile
from sensor_msgs.msg import Joy
from std_srvs.srv import Trigger

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.middleware.qos_profiles import LATCHED_HISTORY
from humanoid_control_common.middleware.steady_timer import create_steady_timer
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.modes import FORCE, INTENT_OF_MODE, Intent, Mode, Statement
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_control_common.rules.safety import LONGEST_HEARTBEAT, SafetyMonitor
from humanoid_controller_manager.loop.snapshot import Refusal
from humanoid_controller_manager.ros.execution import callbacks
from humanoid_controller_manager.ros.node import ControllerManagerNode
from humanoid_controller_manager.ros.parameters import node_document, parse
from humanoid_controller_manager.ros.process.companion import Companion
from humanoid_controller_manager.ros.process.ros_session import RosSession, parameters_of
from humanoid_controller_manager.ros.process.shutdown_report import ShutdownReport
from humanoid_controller_manager.ros.topics.bounded_topic import BoundedTopic, refusal_log
from humanoid_controller_manager.ros.topics.message_age import MessageAge, MessageInfo
from humanoid_controller_manager.ros.topics.message_template import MessageTemplate
from humanoid_controller_manager.ros.topics.safety_messages import safety_report
from humanoid_controller_manager.switching.switch_requests import SwitchAnswer, SwitchAuthority
from humanoid_controllers.mode_manager import emergency_stop
from humanoid_controllers.mode_manager.answer import Answer
from humanoid_controllers.mode_manager.emergency_stop import EmergencyStop
from humanoid_controllers.mode_manager.event_log import EventLog
from humanoid_controllers.mode_manager.gamepad import Gamepad, late_refusal, stop_pressed
from humanoid_controllers.mode_manager.impedance_monitor import ImpedanceMonitor, ImpedanceReport
from humanoid_controllers.mode_manager.mode_manager import ModeManager
from humanoid_controllers.mode_manager.power_down import PowerDown
from humanoid_controllers.mode_manager.power_down_service import PowerDownService
from humanoid_controllers.mode_manager.recent_statements import RecentStatements
from humanoid_controllers.mode_manager.stall_tolerant_clock import StallTolerantClock
from humanoid_controllers.mode_manager.stop_topics import StopTopics
from humanoid_controllers.reason_codes import REQUEST_OVERTAKEN

LARGEST: Final = 65_536  # bytes of a message; a reason that names every joint has a few thousand
STATEMENT_PERIOD: Final = 0.02  # [s]: statements at 50 Hz and on every change
DIAGNOSIS: Final = "mode manager"
SERVICES: Final = {
    "damp": Intent.DAMP,
    "load": Intent.LOAD,
    "start_locomotion": Intent.START_LOCOMOTION,
    "start_remote": Intent.START_REMOTE,
    "quit": Intent.QUIT,
}


class ModeManagerParameters(StrictModel):
    """Parameters of the node `mode_manager`."""

    safety_deadlines: dict[
        str, Annotated[PositiveFloat, Field(description="The source must report this often [s].")]
    ] = Field(default_factory=dict, description="By safety source of another process [s].")
    default_safety_deadline: PositiveFloat = Field(
        default=2.0, description="The same for every other source that repeats its report [s]."
    )
    heartbeats: dict[
        str,
        Annotated[
            float,
            Field(gt=0.0, le=LONGEST_HEARTBEAT, description="Longest silence of the program [s]."),
        ],
    ] = Field(
        default_factory=dict,
        description="By program that the robot must not run without, on emergency_stop/heartbeat.",
    )
    impedance_manager: str = Field(
        default="", description="Topic of ImpedanceState; empty: there is no impedance manager."
    )
    gamepad: bool = Field(default=False, description="Whether a gamepad on joy requests modes.")


class ModeManagerNode(Companion, SwitchAuthority):
    """Connect ModeManager to its topics and services.

    Args:
        manager: the node whose loop the mode manager commands.
        ros: makes the node.
        shut_down: requests the end of the process.
    """

    def __init__(
        self, manager: ControllerManagerNode, ros: RosSession, shut_down: Callable[[], None]
    ) -> None:
        self.node = ros.node("mode_manager", services=True)
        given = parameters_of(self.node)
        document = node_document("mode_manager", given, manager.files, manager.namespace)
        parameters = parse(ModeManagerParameters, "mode_manager", document)
        self.node.describe(ModeManagerParameters, document)
        self._now = StallTolerantClock(ros.machine.clock).now
        self._safety_monitor = SafetyMonitor(
            dict(parameters.safety_deadlines), parameters.default_safety_deadline
        )
        self._impedance = ImpedanceMonitor() if parameters.impedance_manager else None
        self._emergency_stop = EmergencyStop(parameters.heartbeats)
        self._modes = ModeManager(
            manager.loop,
            manager.registry.of_mode,
            self._safety_monitor,
            self._impedance,
            self._emergency_stop,
        )
        self._manager, self._machine = manager, ros.machine
        self._shut_down = shut_down
        self._stated: Statement | None = None
        self._template: MessageTemplate  # of the statement
        self._published = b""  # the latest statement, as it was sent
        self._recent = RecentStatements()
        self._event_log = EventLog()
        # Reports of this process's sources come with the snapshots, earlier than by topic.
        self._own_sources = {info.name for info in manager.description.blocks}
        self._own_sources |= {emergency_stop.SOURCE, callbacks.SOURCE}
        self._stop_topics = StopTopics(
            self.node,
            self._emergency_stop,
            now=self._now,
            stamp=lambda: manager.stamp(manager.loop.snapshot),
            pressed=self.changed,
            heartbeats=bool(parameters.heartbeats),
        )
        self._power_down = PowerDownService(
            self.node, self._begin_power_down, shut_down, ros.machine
        )
        self._create_interfaces(parameters.impedance_manager)
        if parameters.gamepad:
            self._gamepad, self._gamepad_age = Gamepad(), MessageAge()
            self.node.create_subscription(Joy, "joy", self._on_joy, 10)

    def changed(self) -> None:
        """See Companion: react, and publish a statement at once if the mode in force is new."""
        self._modes.observe(self._now())
        if self._modes.statement != self._stated:
            self._publish_statement()
        self._stop_topics.publish()

    def diagnose(self) -> Sequence[Diagnosis]:
        """See Companion: a latched fall is an ERROR."""
        if fall := self._modes.fall:
            latched = Reason.of(FELL_TO_SAFETY, f"fell to safety, not cleared: {fall}", fall)
            level = DiagnosisLevel.ERROR
            return (Diagnosis(DIAGNOSIS, level, latched.text, codes=latched.codes),)
        return (Diagnosis(DIAGNOSIS, DiagnosisLevel.OK, "no fall to clear"),)

    def lead_down(self) -> None:
        """See Companion. Joints without torque need no way down."""
        limp = self._manager.loop.snapshot.mode is Mode.ZERO_TORQUE
        if limp and not self._power_down.has_begun:
            self._shut_down()
        else:
            self._power_down.begin()

    def ended(self, report: ShutdownReport) -> None:
        """See Companion."""
        self._power_down.ended(report)

    def request_switch(self, controller: str, mode: Mode, decided_on: int) -> SwitchAnswer:
        """See SwitchAuthority: an intent like any other, with the controller named."""
        number = self._manager.loop.snapshot.switch_number
        if number != decided_on:
            text = "another controller was put in charge meanwhile"
            return SwitchAnswer(Reason.of(REQUEST_OVERTAKEN, text))
        answer = self._handle(INTENT_OF_MODE[mode], controller)
        refused = NO_REASON if answer.accepted else Reason(answer.message, answer.codes)
        return SwitchAnswer(refused, answer.ticket)

    def pending_controller(self) -> str:
        """See SwitchAuthority."""
        self._modes.observe(self._now())
        return self._modes.pending_controller

    @property
    def refusal(self) -> Refusal | None:  # type: ignore[override] # read-only
        """See SwitchAuthority."""
        return self._modes.refusal

    # Inside.

    def _create_interfaces(self, impedance_topic: str) -> None:
        node = self.node
        self._statements = node.create_publisher(ControlMode, "control_mode", 10)
        # Deep enough that a flood of other requests does not push a DAMP out.
        self._requests = self._subscribe(ControlMode, "control_mode", self._on_control_mode, 100)
        self._requests.take_undecoded = lambda data, _: data == self._published
        self._subscribe(SafetyStatus, "safety_status", self._on_safety, LATCHED_HISTORY)
        if impedance_topic:
            self._subscribe(ImpedanceState, impedance_topic, self._on_impedance, 1)
        for name, intent in SERVICES.items():
            callback = partial(self._on_trigger, intent)
            node.create_service(Trigger, f"humanoid_control/mode/{name}", callback)
        node.create_service(ClearFault, "~/clear_fault", self._on_clear_fault)
        create_steady_timer(node, STATEMENT_PERIOD, self._on_timer)

    def _subscribe(
        self, kind: Any, topic: str, callback: Callable[[Any], object], qos: QoSProfile | int
    ) -> BoundedTopic:
        """Subscribe to a topic; log the messages that are too large."""

        def accept(message: Any, _: object) -> None:
            callback(message)

        bounded = BoundedTopic(kind, LARGEST, accept, refusal_log(self.node, topic))
        bounded.subscribe(self.node, topic, qos)
        return bounded

    def _on_timer(self) -> None:
        now = self._now()
        snapshot = self._modes.observe(now)
        if self._modes.standstill and self._emergency_stop.problem(now):
            # The loop takes no requests: ending the process disables the joints without it.
            self._power_down.begin()
        self._power_down.advance(snapshot, now)
        self._publish_statement()
        self._stop_topics.publish()
        # The node receives its own statement, too: otherwise it would wake the executor.
        self._requests.receive_waiting()

    def _begin_power_down(self) -> PowerDown:
        self._modes.close()
        return PowerDown(self._modes, self._now())

    def _publish_statement(self) -> None:
        """Publish the statement."""
        statement = self._modes.statement
        self._event_log.recorder = self._manager.recorder  # None before the loop's start
        self._event_log.record_statement(statement, self._modes.fall)
        if statement != self._stated:
            self._stated, self._template = statement, MessageTemplate(_message(statement))
        stamp = self._manager.stamp_ns(self._modes.observed)
        self._recent.add(stamp, self._now())
        self._published = self._template.filled(stamp)
        self._statements.publish(self._published)

    def _on_control_mode(self, message: ControlMode) -> None:
        if message.controller_name:
            return  # a statement, of this node or of another one: not a request
        if message.mode not in list(Mode):
            self._modes.refuse_unknown_mode(message.mode)
            self.changed()
            return
        intent = INTENT_OF_MODE[Mode(message.mode)]
        forced = intent is Intent.ZERO_TORQUE and message.status_message == FORCE
        stamp = message.header.stamp
        late = self._recent.late_refusal(
            intent,
            stamp.sec * 10**9 + stamp.nanosec,
            message.switch_number,
            self._modes.observed.switch_number,
        )
        self._handle_in_time(Intent.FORCE_ZERO_TORQUE if forced else intent, late)

    def _on_joy(self, message: Joy, info: MessageInfo) -> None:
        late = self._gamepad_age.overdue(info, self._machine)
        if stop_pressed(message.buttons):
            self._emergency_stop.press("gamepad")
            self.changed()
        number = info.get("publication_sequence_number")
        intent = self._gamepad.pressed(message.buttons, number)
        if intent is not None:
            self._handle_in_time(intent, late_refusal(intent, late))

    def _handle_in_time(self, intent: Intent, late: Reason) -> None:
        """Handle `intent`, or refuse it because it is `late`."""
        if late:
            self._event_log.record_request(intent.value, self._modes.refuse(late))
            self.changed()
        else:
            self._handle(intent)

    def _handle(self, intent: Intent, controller: str | None = None) -> Answer:
        answer = self._modes.handle(intent, self._now(), controller)
        self._event_log.record_request(intent.value, answer)
        self.changed()
        if answer.shut_down:
            self._shut_down()
        return answer

    def _on_trigger(
        self, intent: Intent, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        answer = self._handle(intent)
        response.success, response.message = answer.accepted, answer.message
        return response

    def _on_clear_fault(
        self, request: ClearFault.Request, response: ClearFault.Response
    ) -> ClearFault.Response:
        answer = self._modes.clear_fault(self._now())
        self._event_log.record_request("clear_fault", answer)
        if answer.accepted:
            self._manager.acknowledge_failures()
        self.changed()
        response.success, response.message = answer.accepted, answer.message
        response.reason_codes = answer.codes
        return response

    def _on_impedance(self, message: ImpedanceState) -> None:
        assert self._impedance is not None
        report = ImpedanceReport(
            message.armed,
            message.confirmed,
            message.mode,
            message.switch_number,
            message.status_message,
        )
        self._impedance.reported(report, self._now())
        self.changed()

    def _on_safety(self, message: SafetyStatus) -> None:
        if message.source not in self._own_sources:
            report = safety_report(message)
            self._event_log.record_report(report)
            self._safety_monitor.report(report, self._now())
            self.changed()


def _message(statement: Statement) -> ControlMode:
    """Return a statement without its stamp."""
    return ControlMode(
        mode=int(statement.mode),
        controller_name=statement.controller,
        status_message=statement.reason.text,
        switch_number=statement.switch_number,
        reason_codes=statement.reason.codes,
    )
