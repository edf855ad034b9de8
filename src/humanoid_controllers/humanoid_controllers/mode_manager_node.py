"""The node `mode_manager`: /control_mode both ways, services, safety of other processes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from humanoid_control_msgs.msg import ControlMode, ImpedanceState, SafetyStatus
from pydantic import Field, PositiveFloat
from rclpy.clock import Clock, ClockType
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import Joy
from std_srvs.srv import Trigger

from humanoid_control_common.config import StrictModel
from humanoid_control_common.modes import FORCE, INTENT_OF_MODE, Intent, Mode
from humanoid_control_common.safety import SafetyFlag, SafetyLevel, SafetyMonitor, SafetyReport
from humanoid_controller_manager import callbacks
from humanoid_controller_manager.authority import Asked
from humanoid_controller_manager.companion import Companion
from humanoid_controller_manager.ending import Ending
from humanoid_controller_manager.node import ControllerManagerNode
from humanoid_controller_manager.parameters import node_document, parse
from humanoid_controller_manager.ros_node import configured_node, parameters_of
from humanoid_controller_manager.snapshot import Refusal
from humanoid_controllers import emergency_stop
from humanoid_controllers.attentive_clock import AttentiveClock
from humanoid_controllers.emergency_stop import EmergencyStop
from humanoid_controllers.flight_notes import FlightNotes
from humanoid_controllers.gamepad import Gamepad, wants_stop
from humanoid_controllers.impedance_watch import ImpedanceReport, ImpedanceWatch
from humanoid_controllers.loop_watch import LoopWatch
from humanoid_controllers.mode_manager import ModeManager
from humanoid_controllers.power_down import PowerDown
from humanoid_controllers.power_down_service import PowerDownService
from humanoid_controllers.statement import Answer, Statement
from humanoid_controllers.stop_topics import StopTopics

STATEMENT_PERIOD: Final = 0.02  # [s]: statements at 50 Hz and on every change
SERVICES: Final = {
    "damp": Intent.DAMP,
    "load": Intent.LOAD,
    "start_locomotion": Intent.START_LOCOMOTION,
    "start_remote": Intent.START_REMOTE,
    "quit": Intent.QUIT,
}
SAFETY_QOS: Final = QoSProfile(depth=32, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class ModeManagerParameters(StrictModel):
    """Parameters of the node `mode_manager`."""

    # Safety sources of other processes that must report at least this often [s].
    safety_deadlines: dict[str, float] = Field(default_factory=dict)
    # The same [s] for every other source that repeats its report, not only says what changed.
    default_safety_deadline: PositiveFloat = 2.0
    # Longest silence [s] of everyone on /emergency_stop/heartbeat without whom the robot must stop.
    heartbeats: dict[str, PositiveFloat] = Field(default_factory=dict)
    # Topic on which an impedance manager says what gains the drives have; empty: there is none.
    impedance_manager: str = ""
    # Whether a gamepad on /joy may ask for modes.
    gamepad: bool = False


class ModeManagerNode(Companion):
    """Gives ModeManager its topics and services.

    Args:
        manager: whose loop it commands.
        shut_down: asks the process to end.
    """

    def __init__(self, manager: ControllerManagerNode, shut_down: Callable[[], None]) -> None:
        self.node = configured_node("mode_manager", services=True)
        document = node_document("mode_manager", parameters_of(self.node), manager.files)
        parameters = parse(ModeManagerParameters, "mode_manager", document)
        self._now = AttentiveClock().now
        self._monitor = SafetyMonitor(
            dict(parameters.safety_deadlines), parameters.default_safety_deadline
        )
        self._impedance = ImpedanceWatch() if parameters.impedance_manager else None
        stop = EmergencyStop(parameters.heartbeats)
        self._modes = ModeManager(
            manager.loop, manager.registry.of_mode, self._monitor, self._impedance, stop
        )
        self._manager = manager
        self._shut_down = shut_down
        self._stated: Statement | None = None
        self._notes = FlightNotes()
        # Sources of this process come with the snapshots, newer than any topic could tell.
        self._own_sources = {info.name for info in manager.description.blocks}
        self._own_sources |= {emergency_stop.SOURCE, callbacks.SOURCE}
        self._stop = StopTopics(
            self.node,
            stop,
            now=self._now,
            stamp=lambda: manager.stamp(manager.loop.snapshot),
            pressed=self.changed,
            heartbeats=bool(parameters.heartbeats),
        )
        self._watch = LoopWatch()
        self._power_down = PowerDownService(self.node, self._begin_power_down, shut_down)
        self._create_interfaces(parameters.impedance_manager)
        if parameters.gamepad:
            self._gamepad = Gamepad()
            self.node.create_subscription(Joy, "/joy", self._on_joy, 10)

    def changed(self) -> None:
        """See Companion: react, and state it at once if what is in force is new."""
        self._modes.observe(self._now())
        if self._modes.statement != self._stated:
            self._state()
        self._stop.publish()

    def lead_down(self) -> None:
        """See Companion. Joints that have no torque aren't waited for."""
        limp = self._manager.loop.snapshot.mode is Mode.ZERO_TORQUE
        if limp and not self._power_down.has_begun:
            self._shut_down()
        else:
            self._power_down.begin()

    def ended(self, ending: Ending) -> None:
        """See Companion."""
        self._power_down.ended(ending)

    def ask(self, controller: str, mode: Mode, decided_on: int) -> Asked:
        """See SwitchAuthority: an intent like any other, with the controller named."""
        number = self._manager.loop.snapshot.switch_number
        if number != decided_on:
            return Asked("another controller was put in charge meanwhile")
        answer = self._ask(INTENT_OF_MODE[mode], controller)
        return Asked("" if answer.accepted else answer.message, answer.ticket)

    def asked_for(self) -> str:
        """See SwitchAuthority."""
        self._modes.observe(self._now())
        return self._modes.asked_for

    @property
    def refusal(self) -> Refusal | None:
        """See SwitchAuthority."""
        return self._modes.refusal

    def _create_interfaces(self, impedance_topic: str) -> None:
        node = self.node
        self._statements = node.create_publisher(ControlMode, "/control_mode", 10)
        # Deep enough that a flood of others' requests doesn't push a DAMP out.
        node.create_subscription(ControlMode, "/control_mode", self._on_control_mode, 100)
        node.create_subscription(SafetyStatus, "/safety_status", self._on_safety, SAFETY_QOS)
        if impedance_topic:
            node.create_subscription(ImpedanceState, impedance_topic, self._on_impedance, 1)
        for name, intent in SERVICES.items():
            callback = partial(self._on_trigger, intent)
            node.create_service(Trigger, f"/humanoid_control/mode/{name}", callback)
        node.create_service(Trigger, "~/clear_fault", self._on_clear_fault)
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        node.create_timer(STATEMENT_PERIOD, self._on_timer, clock=steady)

    def _on_timer(self) -> None:
        now = self._now()
        snapshot = self._modes.observe(now)
        if self._watch.problem(snapshot.tick, now) and self._stop.pressed(now):
            # The loop can't be told: the end of the process disables the joints from outside of it.
            self._power_down.begin()
        self._power_down.look(snapshot, now)
        self._state()
        self._stop.publish()

    def _begin_power_down(self) -> PowerDown:
        self._modes.close("powering down")
        modes = self._modes
        return PowerDown(modes.rest, modes.go_down, modes.unconfirmed, self._watch, self._now())

    def _state(self) -> None:
        statement = self._modes.statement
        self._stated = statement
        self._notes.recorder = self._manager.flight  # there is none before the loop's start
        self._notes.stated(statement, self._modes.fall)
        message = ControlMode(
            mode=int(statement.mode),
            controller_name=statement.controller_name,
            status_message=statement.status_message,
            switch_number=statement.switch_number,
        )
        message.header.stamp = self._manager.stamp(self._manager.loop.snapshot)
        self._statements.publish(message)

    def _on_control_mode(self, message: ControlMode) -> None:
        if message.controller_name:
            return  # a statement, ours or somebody else's: not addressed to us
        if message.mode not in list(Mode):
            self._modes.refuse_unknown_mode(message.mode)
            self.changed()
            return
        intent = INTENT_OF_MODE[Mode(message.mode)]
        insists = intent is Intent.ZERO_TORQUE and message.status_message == FORCE
        self._ask(Intent.FORCE_ZERO_TORQUE if insists else intent)

    def _on_joy(self, message: Joy) -> None:
        if wants_stop(message.buttons):
            self._stop.press("gamepad")
        intent = self._gamepad.pressed(message.buttons)
        if intent is not None:
            self._ask(intent)

    def _ask(self, intent: Intent, controller: str | None = None) -> Answer:
        answer = self._modes.handle(intent, self._now(), controller)
        self._notes.asked(intent.value, answer)
        self.changed()
        if answer.shut_down:
            self._shut_down()
        return answer

    def _on_trigger(
        self, intent: Intent, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        return _respond(response, self._ask(intent))

    def _on_clear_fault(
        self, request: Trigger.Request, response: Trigger.Response
    ) -> Trigger.Response:
        answer = self._modes.clear_fault(self._now())
        self._notes.asked("clear_fault", answer)
        if answer.accepted:
            self._manager.acknowledge_failures()
        self.changed()
        return _respond(response, answer)

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
        if message.source in self._own_sources:
            return
        level, text = message.level, message.message
        if level not in list(SafetyLevel):
            text = f"unknown safety level {level} ({text})"
            level = SafetyLevel.CRITICAL  # whatever it means, it is not known to be harmless
        report = SafetyReport(message.source, SafetyLevel(level), SafetyFlag(message.flags), text)
        self._notes.reported(report)
        self._monitor.report(report, self._now())
        self.changed()


def _respond(response: Trigger.Response, answer: Answer) -> Trigger.Response:
    response.success = answer.accepted
    response.message = answer.message
    return response
