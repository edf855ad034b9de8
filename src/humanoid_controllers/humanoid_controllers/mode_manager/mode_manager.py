"""The mode manager: decides on requests for modes, reacts to safety, states the mode in force."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

from humanoid_control_common.rules.modes import (
    MODE_OF_INTENT,
    SAFE_MODES,
    Intent,
    Mode,
    Situation,
    Statement,
    Verdict,
    decide,
    refusal,
)
from humanoid_control_common.rules.reason_codes import (
    FELL_TO_SAFETY,
    IMPEDANCE_NOT_CONFIRMED,
    NO_POLICY_LOADED,
    RESET_SENT,
    STANDBY_UNFINISHED,
    UNKNOWN_MODE,
)
from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined
from humanoid_control_common.rules.safety import SafetyMonitor, fault_of
from humanoid_controller_manager.loop.active_controller import CONFIRMATION_LIMIT
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.mode_controllers import member_names
from humanoid_controller_manager.loop.snapshot import Phase, Refusal, Snapshot
from humanoid_controller_manager.switching.switch_requests import SwitchRequests
from humanoid_controllers.mode_manager.answer import Answer
from humanoid_controllers.mode_manager.emergency_stop import EmergencyStop
from humanoid_controllers.mode_manager.impedance_monitor import ImpedanceMonitor
from humanoid_controllers.mode_manager.loop_liveness import LoopLiveness
from humanoid_controllers.mode_manager.rest_detection import RestDetector
from humanoid_controllers.reason_codes import (
    CONTROLLER_IN_CHARGE,
    CONTROLLER_NOT_LOADED,
    POWERING_DOWN,
    REQUEST_OVERTAKEN,
    REQUIRES_SAFE_MODE,
    SWITCH_FAILED,
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Request:
    """An intent on its way through the rules."""

    intent: Intent
    named: str | None  # the controller that the request names, if it names one
    controller: str | None  # the controller to activate; None if none is loaded
    decided_on: int  # the switch number in force when the request arrived
    ticket: int = 0  # reserved once the request waits; 0 before


class ModeManager:
    """Decides on intents by the rules of `humanoid_control_common.rules.modes`. Used by one thread.

    Args:
        loop: the control loop that carries out the switches.
        controller_of: returns the controller of a mode, None if none is loaded. DAMPING or
            ZERO_TORQUE always has one.
        safety: reports of sources outside the loop; those of the hardware come with the snapshots.
        impedance: reports of the impedance manager; None on robots without one.
        stop: the operator's stop.
    """

    def __init__(
        self,
        loop: ControlLoop,
        controller_of: Callable[[Mode], str | None],
        safety: SafetyMonitor,
        impedance: ImpedanceMonitor | None = None,
        stop: EmergencyStop | None = None,
    ) -> None:
        self.rest = RestDetector(loop.joints)
        self.standstill = NO_REASON  # why the loop cannot be relied on, at the latest `observe`
        self.refusal: Refusal | None = None  # the latest of a request that had to wait
        self._loop = loop
        self._controller_of = controller_of
        self._safety = safety
        self._impedance = impedance
        self._stop = stop or EmergencyStop()
        self._liveness = LoopLiveness()
        self._closed = NO_REASON  # why requests are not decided any more
        self._observed: Snapshot | None = None
        self._requests = SwitchRequests(loop)
        self._waiting: _Request | None = None
        self._mode_began: tuple[int, float] | None = None  # its switch number and start time [s]
        self._problem = NO_REASON  # why safety forbids stiff modes, at the latest `observe`
        self._message = NO_REASON
        self._latched = self._cause = NO_REASON  # the fall with its consequences; its first cause
        self._falls_seen = self._faults_seen = 0

    @property
    def statement(self) -> Statement:
        """The mode in force at the latest `observe`.

        Not that of the loop's latest tick: a fall since then has no reason yet.
        """
        snapshot = self.observed
        note = self._impedance.note if self._impedance else NO_REASON
        reason = joined((self._message, note, self._safety.unprotected))
        return Statement(snapshot.mode, snapshot.controller, reason, snapshot.switch_number)

    @property
    def observed(self) -> Snapshot:
        """The tick of the latest `observe`."""
        return self._observed or self._loop.snapshot

    @property
    def pending_controller(self) -> str:
        """The controller that a pending or waiting switch will activate; empty if there is none."""
        waiting = self._waiting and self._waiting.controller
        return self._requests.pending_controller or waiting or ""

    @property
    def fall(self) -> Reason:
        """The reason for refusing requests until `clear_fault`, if there is one."""
        return self._latched

    def handle(self, intent: Intent, now: float, controller: str | None = None) -> Answer:
        """Decide on `intent` at `now` [s]; pass it on to the loop if the rules allow it.

        `controller` names the controller to activate; None takes the first one of the mode.
        """
        snapshot = self.observe(now)
        self._drop_waiting(_overtaken(f"{intent.value} was requested meanwhile"))
        if self._closed:
            return self._refuse(refusal(intent, self._closed))
        mode = MODE_OF_INTENT.get(intent)
        found = controller or (self._controller_of(mode) if mode is not None else None)
        request = _Request(intent, controller, found, snapshot.switch_number)
        return self._decide(request, snapshot, now)

    def refuse_unknown_mode(self, number: int) -> Answer:
        """Refuse a request for a mode that does not exist."""
        self._drop_waiting(_overtaken(f"mode {number} was requested meanwhile"))
        known = ", ".join(f"{mode.value} {mode.name}" for mode in Mode)
        text = f"Rejected request: there is no mode {number}; known: {known}"
        return self.refuse(Reason.of(UNKNOWN_MODE, text))

    def refuse(self, reason: Reason) -> Answer:
        """Refuse a request for a `reason` that is not the mode manager's."""
        fallen = self._fallen() if self._latched else NO_REASON  # other refusals repeat it, too
        return self._refuse(joined((reason, fallen)))

    def clear_fault(self, now: float) -> Answer:
        """Reset drive faults and, if safety has no problem any more, accept requests again."""
        snapshot = self.observe(now)
        if self._closed:
            return _refused(self._closed)
        if snapshot.mode not in SAFE_MODES:
            text = f"requires ZERO_TORQUE or DAMPING (currently {snapshot.mode.name})"
            return _refused(Reason.of(REQUIRES_SAFE_MODE, text))
        self._loop.request_fault_reset()
        self._stop.release(now)
        self._problem = self._safety_problem(snapshot, now)
        if self._problem:
            hint = "call again when the fault is gone; a source that ended counts until a restart"
            text = f"reset sent, but {self._problem}; {hint}"
            return _refused(Reason.of(RESET_SENT, text, self._problem))
        fallen = f"faults cleared; the robot had fallen: {self._latched}" if self._latched else ""
        self._latched = self._message = NO_REASON
        return Answer(True, fallen or "nothing to clear: the robot had not fallen")

    def close(self) -> None:
        """Refuse all requests from now on: the way down begins. Safety and `go_down` still work."""
        closed = Reason.of(POWERING_DOWN, "powering down")
        self._drop_waiting(closed)
        self._closed = self._message = closed

    def go_down(self, mode: Mode) -> None:
        """Make the loop switch to a safe `mode`, from any mode."""
        self._requests.go_down(self._controller_of(mode) or self._way_down)

    def observe(self, now: float) -> Snapshot:
        """Evaluate the latest tick and the safety reports at `now` [s]; return the tick.

        Switches to DAMPING if safety requires it.
        """
        snapshot = self._observed = self._loop.snapshot
        failure = self._requests.settle(snapshot)
        if failure:
            self._refuse(Reason.of(SWITCH_FAILED, f"Switch failed: {failure}", failure))
        if snapshot.fall is not None and snapshot.fall.number > self._falls_seen:
            self._falls_seen = snapshot.fall.number
            self._latch(snapshot.fall.reason)
            fall, controller = snapshot.fall, snapshot.controller
            logger.error("fell to %s: %s", controller, fall.reason, exc_info=fall.error)
        self._problem = self._safety_problem(snapshot, now)
        passing = self._passing_fault(snapshot)  # also in a fall: it must not count after it
        problem = self._problem or passing
        fell = bool(problem) and not self._latched
        if fell:
            self._latch(problem)
            logger.error("falling to DAMPING: %s", problem)
        if self._latched == self._cause != (known := self._safety.explained(self._cause)):
            self._latched = NO_REASON
            self._latch(known)  # the error of a drive is read after the fall
        if not set((stop := self._stop.problem(now)).codes).issubset(self._latched.codes):
            self._latch(stop)  # pressed in a fall: the operator that clears it must read of it
        must_leave = snapshot.mode is not Mode.DAMPING if fell else snapshot.mode not in SAFE_MODES
        if self._latched and (must_leave or self._requests.busy):
            self._requests.go_down(self._way_down)
        if self._mode_began is None or self._mode_began[0] != snapshot.switch_number:
            self._mode_began = snapshot.switch_number, now
        self.rest.update(snapshot)
        self._continue_waiting(snapshot, now)
        return snapshot

    def unconfirmed(self, snapshot: Snapshot, now: float) -> Reason:
        """Return why the impedance in force cannot be relied on, if so."""
        if snapshot.unconfirmed:
            text = f"impedance of {snapshot.mode.name} not confirmed by {snapshot.unconfirmed}"
            return Reason.of(IMPEDANCE_NOT_CONFIRMED, text)
        if self._impedance is None:
            return NO_REASON
        return self._impedance.refusal(snapshot.mode, snapshot.switch_number, now)

    # Inside.

    @property
    def _way_down(self) -> str:
        """The controller to fall to."""
        found = self._controller_of(Mode.DAMPING) or self._controller_of(Mode.ZERO_TORQUE)
        assert found is not None  # safe controllers cannot be unloaded
        return found

    def _decide(self, request: _Request, snapshot: Snapshot, now: float) -> Answer:
        intent, mode = request.intent, MODE_OF_INTENT.get(request.intent)
        unusable = NO_REASON if mode is None else self._unusable(mode, request.controller)
        decision = decide(self._situation(snapshot, now, unusable), intent)
        match decision.verdict:
            case Verdict.STAY:
                return self._stay(request, snapshot, now)
            case Verdict.REFUSE:
                return self._refuse(decision.reason)
            case Verdict.WAIT:
                if not request.ticket:
                    request = replace(request, ticket=self._requests.reserve())
                    self._message = decision.reason
                self._waiting = request
                reason = decision.reason
                return Answer(True, reason.text, reason.codes, ticket=request.ticket)
            case Verdict.SHUT_DOWN:
                self._message = NO_REASON
                return Answer(True, "shutting down", shut_down=True)
            case Verdict.SWITCH:
                if unusable:  # of a safe mode: the rules judge it for stiff ones
                    return self._refuse(refusal(intent, unusable))
                return self._switch(request)

    def _unusable(self, mode: Mode, controller: str | None) -> Reason:
        """Return why `controller` cannot be activated for `mode`, if so."""
        if controller is None:
            if mode is Mode.LOCOMOTION:
                return Reason.of(NO_POLICY_LOADED, "no policy loaded: `hc policy load FILE`")
            return Reason.of(CONTROLLER_NOT_LOADED, f"no controller for {mode.name} is loaded")
        return self._loop.refusal_of(controller)

    def _situation(self, snapshot: Snapshot, now: float, unusable: Reason) -> Situation:
        began = now if self._mode_began is None else self._mode_began[1]
        return Situation(
            mode=snapshot.mode,
            unfinished=_unfinished(snapshot),
            safety_problem=self._problem or self._stop.refusal(),
            latched_fall=self._latched,
            unconfirmed_impedance=self.unconfirmed(snapshot, now),
            writing_impedance=now - began <= CONFIRMATION_LIMIT,
            moving=self.rest.moving,
            settling=self.rest.settling,
            unusable=unusable,
        )

    def _stay(self, request: _Request, snapshot: Snapshot, now: float) -> Answer:
        intent = request.intent
        if request.named not in (None, snapshot.controller):
            assert request.named is not None
            if not set(member_names(request.named)).isdisjoint(snapshot.controllers):
                return self._exchange_members(request, snapshot, now)
            text = f"'{snapshot.controller}' is in charge of {snapshot.mode.name}; leave it first"
            return self._refuse(refusal(intent, Reason.of(CONTROLLER_IN_CHARGE, text)))
        if intent is Intent.DAMP and self._requests.busy:
            # DAMP takes back the switch that is on its way: the newest request counts.
            self._requests.go_down(self._way_down)
        return Answer(True, f"already in {snapshot.mode.name}")

    def _exchange_members(self, request: _Request, snapshot: Snapshot, now: float) -> Answer:
        """Exchange some of the controllers side by side; the mode stays, and the others go on."""
        obstacle = (
            self._unusable(snapshot.mode, request.controller)
            or self._problem
            or self._stop.refusal()
            or self.unconfirmed(snapshot, now)
        )
        if obstacle:
            return self._refuse(refusal(request.intent, obstacle))
        return self._switch(request)

    def _switch(self, request: _Request) -> Answer:
        assert request.controller is not None
        if not self._latched:  # a fall is stated until it is cleared, also after DAMP
            self._message = NO_REASON
        if request.intent is Intent.DAMP:
            self._requests.go_down(request.controller)
            if self.standstill:
                text = f"DAMPING is requested, but the {self.standstill}"
                return self._refuse(refusal(request.intent, self.standstill).worded(text))
        else:
            self._requests.switch(request.controller, request.decided_on, request.ticket)
        mode = MODE_OF_INTENT[request.intent]
        return Answer(True, f"switching to {mode.name}", ticket=self._requests.ticket)

    def _continue_waiting(self, snapshot: Snapshot, now: float) -> None:
        """Decide again on the request that waits, if there is one."""
        waiting = self._waiting
        if waiting is None:
            return
        if self._latched or snapshot.switch_number != waiting.decided_on:
            fall_message = self._message  # stays: this refusal is a consequence of the fall
            overtaken = _overtaken(f"{snapshot.mode.name} came in force meanwhile")
            self._drop_waiting(self._latched or overtaken)
            self._message = fall_message if self._latched else self._message
            return
        self._waiting = None
        answer = self._decide(waiting, snapshot, now)
        if not answer.accepted:
            self.refusal = Refusal(waiting.ticket, Reason(answer.message, answer.codes))

    def _drop_waiting(self, reason: Reason) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            refused = refusal(waiting.intent, reason)
            self._refuse(refused)
            self.refusal = Refusal(waiting.ticket, refused)

    def _safety_problem(self, snapshot: Snapshot, now: float) -> Reason:
        for report in snapshot.reports:
            self._safety.report(report, now)
        self.standstill = self._liveness.problem(snapshot.tick, now)
        problems = [self.standstill, self._stop.problem(now), self._safety.problem(now)]
        if self._impedance is not None:
            problems.append(self._impedance.problem(snapshot.mode, snapshot.switch_number, now))
        return joined(problems)

    def _passing_fault(self, snapshot: Snapshot) -> Reason:
        """Return a hardware fault that came and went since the last call, if one did."""
        fault = snapshot.fault
        if fault is None or fault.number == self._faults_seen:
            return NO_REASON
        self._faults_seen = fault.number
        return fault_of(fault.report, "reported")

    def _refuse(self, reason: Reason) -> Answer:
        if reason != self._message:
            logger.warning("%s", reason)
        self._message = reason
        return _refused(reason)

    def _latch(self, reason: Reason) -> None:
        # A later problem is often a consequence and must not hide the cause.
        self._cause = self._cause if self._latched else reason
        later = NO_REASON if reason == self._cause else reason
        self._latched = joined((self._cause, later), "; then: ")
        self._message = self._fallen()

    def _fallen(self) -> Reason:
        text = f"Fell to safety: {self._latched}; call clear_fault before the next request"
        return Reason.of(FELL_TO_SAFETY, text, self._latched)


def _refused(reason: Reason) -> Answer:
    return Answer(False, reason.text, reason.codes)


def _overtaken(text: str) -> Reason:
    return Reason.of(REQUEST_OVERTAKEN, text)


def _unfinished(snapshot: Snapshot) -> Reason:
    """Return why the active controller has not finished, if so."""
    progress = snapshot.progress
    if progress is not None and progress.finished:
        return NO_REASON
    if progress is not None:
        text = "still on its way"
    elif snapshot.phase is Phase.PREPARING:
        text = "it has not begun yet"
    else:
        members = [it.name for it in snapshot.members if it.progress is None]
        name = members[0] if members else snapshot.controller
        text = f"'{name}' has no property `progress`, so it never is"
    return Reason.of(STANDBY_UNFINISHED, text)
