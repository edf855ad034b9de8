"""The mode manager: operators' intents in, switches of the loop out, and what is in force."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass

from humanoid_control_common.modes import (
    MODE_OF_INTENT,
    SAFE_MODES,
    Intent,
    Mode,
    Situation,
    Verdict,
    decide,
)
from humanoid_control_common.safety import SafetyMonitor
from humanoid_controller_manager.active_controller import CONFIRMATION_LIMIT
from humanoid_controller_manager.snapshot import Phase, Refusal, Snapshot
from humanoid_controller_manager.switch_desk import Loop, SwitchDesk
from humanoid_controllers.emergency_stop import EmergencyStop
from humanoid_controllers.impedance_watch import ImpedanceWatch
from humanoid_controllers.loop_watch import LoopWatch
from humanoid_controllers.rest import RestWatch
from humanoid_controllers.statement import Answer, Statement

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Waiting:
    """A request that lacks nothing but time."""

    intent: Intent
    controller: str | None  # that is to carry it out
    number: int  # the switch number it was decided on
    ticket: int  # under which it is passed on to the loop


class ModeManager:
    """Decides on intents by the rules of common's `modes`, reacts to safety; used by one thread.

    Args:
        controller_of: the controller of a mode, None if there is none now; there always is one
            of DAMPING or ZERO_TORQUE.
        safety: reports of sources outside the loop; those of the hardware come with the snapshots.
        impedance: where an impedance manager sets the gains of drives, what it reports; else None.
        stop: the operator's stop.
    """

    def __init__(
        self,
        loop: Loop,
        controller_of: Callable[[Mode], str | None],
        safety: SafetyMonitor,
        impedance: ImpedanceWatch | None = None,
        stop: EmergencyStop | None = None,
    ) -> None:
        self._loop = loop
        self._controller_of = controller_of
        self._safety = safety
        self._impedance = impedance
        self._stop = stop or EmergencyStop()
        self._watch = LoopWatch()
        self._closed = ""  # why nothing is decided any more; empty while it is
        self._desk = SwitchDesk(loop)
        self._rest = RestWatch(loop.joints)
        self._waiting: _Waiting | None = None
        self._mode_began: tuple[int, float] | None = None  # its switch number, and when [s]
        self.refusal: Refusal | None = None  # the latest of a request that had to wait
        self._problem = ""  # what safety has against stiff modes, at the latest look
        self._message = ""
        self._latched = self._cause = ""  # why requests are refused; how that began
        self._falls_seen = self._faults_seen = 0

    @property
    def statement(self) -> Statement:
        """What is in force now."""
        snapshot = self._loop.snapshot
        note = self._impedance.note if self._impedance else ""
        message = "; ".join(filter(None, (self._message, note)))
        return Statement(snapshot.mode, snapshot.controller, message, snapshot.switch_number)

    def handle(self, intent: Intent, now: float, controller: str | None = None) -> Answer:
        """Decide on `intent` at `now` [s] and pass it on to the loop if the rules allow it.

        `controller` is to carry it out; None for the one that usually does.
        """
        snapshot = self.observe(now)
        self._drop_waiting(f"{intent.value} was asked for meanwhile")
        if self._closed:
            return self._refuse(f"Rejected {intent.value}: {self._closed}")
        named = controller or self._usual(intent)
        decision = decide(self._situation(snapshot, now, named), intent)
        match decision.verdict:
            case Verdict.STAY:
                return self._stay(intent, snapshot, controller)
            case Verdict.REFUSE:
                return self._refuse(decision.reason)
            case Verdict.WAIT:
                return self._wait(intent, snapshot, named, decision.reason)
            case Verdict.SHUT_DOWN:
                self._message = ""
                return Answer(True, "shutting down", shut_down=True)
            case Verdict.SWITCH:
                assert decision.mode is not None
                return self._switch(intent, decision.mode, snapshot, now, named)

    @property
    def asked_for(self) -> str:
        """The controller a switch is on its way to, or waits for; empty if there is none."""
        waiting = self._waiting and self._waiting.controller
        return self._desk.asked_for or waiting or ""

    @property
    def fall(self) -> str:
        """Why requests are refused until `clear_fault`; empty if they aren't."""
        return self._latched

    def refuse_unknown_mode(self, number: int) -> Answer:
        """Answer a request for a mode that does not exist."""
        self._drop_waiting(f"mode {number} was asked for meanwhile")
        known = ", ".join(f"{mode.value} {mode.name}" for mode in Mode)
        return self._refuse(f"Rejected request: there is no mode {number}; known: {known}")

    def clear_fault(self, now: float) -> Answer:
        """Reset drive faults and, if safety is well again, let requests in."""
        snapshot = self.observe(now)
        mode = snapshot.mode
        if self._closed:
            return Answer(False, self._closed)
        if mode not in SAFE_MODES:
            return Answer(False, f"requires ZERO_TORQUE or DAMPING (currently {mode.name})")
        self._loop.request_fault_reset()
        self._stop.release(now)
        self._problem = self._safety_problem(snapshot, now)
        if self._problem:
            hint = "call again when it is gone; a source that ended counts until a restart"
            return Answer(False, f"reset sent, but {self._problem}; {hint}", begun=True)
        self._latched = ""
        self._message = ""
        return Answer(True, "faults cleared")

    def close(self, reason: str) -> None:
        """Refuse everything from now on, for `reason`; only safety goes on, and `go_down`."""
        self._drop_waiting(reason)
        self._closed = self._message = reason

    def go_down(self, mode: Mode) -> None:
        """Have the loop go to a safe `mode`, whatever is in force."""
        self._desk.go_down(self._controller_of(mode) or self._way_down)

    def observe(self, now: float) -> Snapshot:
        """Take notice of the latest tick, which is returned, and of safety at `now` [s].

        Goes down to DAMPING if need be.
        """
        snapshot = self._loop.snapshot
        failure = self._desk.settle(snapshot)
        if failure:
            self._refuse(f"Switch failed: {failure}")
        if snapshot.fall is not None and snapshot.fall.number > self._falls_seen:
            self._falls_seen = snapshot.fall.number
            self._latch(snapshot.fall.reason)
            logger.error(
                "fell to %s: %s",
                snapshot.controller,
                snapshot.fall.reason,
                exc_info=snapshot.fall.error,
            )
        self._problem = self._safety_problem(snapshot, now)
        problem = self._problem or self._passing_fault(snapshot)
        fell = bool(problem) and not self._latched
        if fell:
            self._latch(problem)
            logger.error("falling to DAMPING: %s", problem)
        must_leave = snapshot.mode is not Mode.DAMPING if fell else snapshot.mode not in SAFE_MODES
        if self._latched and (must_leave or self._desk.busy):
            self._desk.go_down(self._way_down)
        self._look_after_mode(snapshot, now)
        return snapshot

    def unconfirmed(self, snapshot: Snapshot, now: float) -> str:
        """Why the impedance in force can't be relied on; empty if it can."""
        if snapshot.unconfirmed:
            return f"impedance of {snapshot.mode.name} not confirmed by {snapshot.unconfirmed}"
        if self._impedance is None:
            return ""
        return self._impedance.refusal(snapshot.mode, snapshot.switch_number, now)

    @property
    def rest(self) -> RestWatch:
        """Whether the joints have come to rest."""
        return self._rest

    # Inside.

    def _look_after_mode(self, snapshot: Snapshot, now: float) -> None:
        """Notice how old the mode in force is, and go on with the request that waits in it."""
        if self._mode_began is None or self._mode_began[0] != snapshot.switch_number:
            self._mode_began = snapshot.switch_number, now
        self._rest.look(snapshot)
        waiting = self._waiting
        if waiting is None:
            return
        if self._latched or snapshot.switch_number != waiting.number:
            fell = self._message  # stays: what is refused now is a consequence of it
            self._drop_waiting(self._latched or f"{snapshot.mode.name} came in force meanwhile")
            self._message = fell if self._latched else self._message
            return
        intent, named = waiting.intent, waiting.controller
        decision = decide(self._situation(snapshot, now, named), intent)
        if decision.verdict is Verdict.WAIT:
            return
        self._waiting = None
        if decision.verdict is Verdict.SWITCH and decision.mode is not None:
            answer = self._switch(intent, decision.mode, snapshot, now, named, waiting.ticket)
        else:
            answer = self._refuse(decision.reason)
        if not answer.accepted:
            self.refusal = Refusal(waiting.ticket, answer.message)

    def _wait(
        self, intent: Intent, snapshot: Snapshot, controller: str | None, reason: str
    ) -> Answer:
        ticket = self._desk.reserve()
        self._waiting = _Waiting(intent, controller, snapshot.switch_number, ticket)
        self._message = reason
        return Answer(True, reason, ticket=ticket)

    def _drop_waiting(self, reason: str) -> None:
        if self._waiting is not None:
            waiting, self._waiting = self._waiting, None
            answer = self._refuse(f"Rejected {waiting.intent.value}: {reason}")
            self.refusal = Refusal(waiting.ticket, answer.message)

    @property
    def _way_down(self) -> str:
        """The controller to fall to."""
        found = self._controller_of(Mode.DAMPING) or self._controller_of(Mode.ZERO_TORQUE)
        assert found is not None  # safe controllers are never taken away
        return found

    def _usual(self, intent: Intent) -> str | None:
        mode = MODE_OF_INTENT.get(intent)
        return None if mode is None else self._controller_of(mode)

    def _stay(self, intent: Intent, snapshot: Snapshot, controller: str | None) -> Answer:
        if controller not in (None, snapshot.controller):
            return self._refuse(
                f"Rejected {intent.value}: '{snapshot.controller}' is in charge of "
                f"{snapshot.mode.name}; leave that mode first"
            )
        if intent is Intent.DAMP and self._desk.busy:
            # A switch is on its way that this intent takes back: the last word counts.
            self._desk.go_down(self._way_down)
        return Answer(True, f"already in {snapshot.mode.name}")

    def _situation(self, snapshot: Snapshot, now: float, named: str | None) -> Situation:
        began = now if self._mode_began is None else self._mode_began[1]
        return Situation(
            mode=snapshot.mode,
            unfinished=_unfinished(snapshot),
            safety_problem=self._problem or self._stop.refusal(),
            latched_fall=self._latched,
            unconfirmed_impedance=self.unconfirmed(snapshot, now),
            writing_impedance=now - began <= CONFIRMATION_LIMIT,
            moving=self._rest.moving,
            settling=self._rest.settling,
            policy_loaded=named is not None and not self._loop.refusal_of(named),
        )

    def _safety_problem(self, snapshot: Snapshot, now: float) -> str:
        for report in snapshot.reports:
            self._safety.report(report, now)
        standstill = self._watch.problem(snapshot.tick, now)
        problems = [standstill, self._stop.problem(now), self._safety.problem(now)]
        if self._impedance is not None:
            number = snapshot.switch_number
            problems.append(self._impedance.problem(snapshot.mode, number, now))
        return "; ".join(filter(None, problems))

    def _passing_fault(self, snapshot: Snapshot) -> str:
        """A hardware fault that came and went since the last look; empty if there is none."""
        fault = snapshot.fault
        if fault is None or fault.number == self._faults_seen:
            return ""
        self._faults_seen = fault.number
        return f"{fault.report.source} reported {fault.report.level.name}: {fault.report.message}"

    def _switch(
        self,
        intent: Intent,
        mode: Mode,
        snapshot: Snapshot,
        now: float,
        controller: str | None,
        ticket: int | None = None,
    ) -> Answer:
        refusal = (
            f"no controller for {mode.name} is loaded"
            if controller is None
            else self._loop.refusal_of(controller)
        )
        if controller is None or refusal:
            return self._refuse(f"Rejected {intent.value}: {refusal}")
        self._message = ""
        if mode is Mode.DAMPING:
            self._desk.go_down(controller)
            if standstill := self._watch.problem(snapshot.tick, now):
                return self._refuse(f"DAMPING is asked for, but the {standstill}")
        else:
            self._desk.switch(controller, snapshot.switch_number, ticket)
        return Answer(True, f"switching to {mode.name}", ticket=self._desk.ticket)

    def _refuse(self, reason: str) -> Answer:
        if reason != self._message:
            logger.warning("%s", reason)
        self._message = reason
        return Answer(False, reason)

    def _latch(self, reason: str) -> None:
        # What comes next is often a consequence, and must not hide the cause.
        self._cause = self._cause if self._latched else reason
        self._latched = reason if reason == self._cause else f"{self._cause}; then: {reason}"
        self._message = f"Fell to safety: {self._latched}; call clear_fault before the next request"


def _unfinished(snapshot: Snapshot) -> str:
    """Why the controller in charge has not come to its end; empty if it has."""
    progress = snapshot.progress
    if progress is not None:
        return "" if progress.finished else "still on its way"
    if snapshot.phase is Phase.PREPARING:
        return "it has not begun yet"
    return f"'{snapshot.controller}' has no property `progress`, so it never is"
