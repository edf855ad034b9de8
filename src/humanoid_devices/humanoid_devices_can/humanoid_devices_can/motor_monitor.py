"""The safety report of a CAN bus: present problems of the bus and of its motors."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_devices_can.effort_check import EffortCheck
from humanoid_devices_can.motor_protocol import MotorState
from humanoid_devices_can.reason_codes import (
    COMMAND_SATURATED,
    DUPLICATE_ID,
    HALF_FEEDBACK,
    INVALID_FRAME,
    MOTOR_DISABLED,
    MOTOR_FAULT,
    RX_TIMEOUT,
    TEMPERATURE_LIMIT,
    TX_QUEUE_OVERRUN,
    VELOCITY_AT_RAIL,
)
from humanoid_devices_can.session.session import Session
from humanoid_devices_can.settings import CanSettings, Motor
from humanoid_devices_can.timing import Timing


class Problem(NamedTuple):
    """One entry of the report."""

    level: SafetyLevel
    flags: SafetyFlag
    reason: Reason


class MotorMonitor:
    """Judges a session and keeps `report`, which is the same object until something changes."""

    def __init__(self, settings: CanSettings, timing: Timing, effort_limit: FloatArray) -> None:
        """`effort_limit` [Nm]: see EffortCheck."""
        self.report = SafetyReport(settings.name)
        self.remark = NO_REASON  # state of the recovery, a FAULT
        self.guard = NO_REASON  # action or failure of the guard, a FAULT
        self.unguarded = NO_REASON  # why no guard would disable the motors, a WARNING
        self.silent: Sequence[Motor] = ()  # as they were before a guard acted
        self.efforts = EffortCheck(settings.motors, effort_limit, settings.update_rate)
        self._settings, self._timing = settings, timing
        self._overrun = max(timing.overrun_periods / settings.update_rate, timing.shortest_overrun)
        self._seen: tuple[Problem, ...] = ()

    def faulty(self, session: Session) -> list[int]:
        """Return the motors that must be enabled again."""
        return [
            i
            for i, state in enumerate(session.states)
            if session.unmeasured_for(i) > self._timing.silence
            or state.enabled is False
            or state.fault
            or state.report
            or i in self.efforts.problems
            or session.frame_counts.are_too_many(i, session.clock())
        ]

    def unreachable(self, session: Session) -> bool:
        """Return whether the bus must be opened again."""
        health, limit = session.health, self._timing.silence
        silent = (session.silent_for(i) > limit for i in range(len(session.states)))
        return bool(health.lost) or health.was_off or all(silent)

    def update(self, session: Session, now: float, saturated: Iterable[int]) -> None:
        """Check `session` at `now` [s]; `saturated`: motors whose command did not fit the wire."""
        silent = self.silent_motors(session)
        problems = (*self.bus_problems(session, silent, now),)
        if not (self.guard or session.health.lost):
            self.silent = silent
        if not session.health.lost:
            for i in range(len(self._settings.motors)):
                problems += (*self.motor_problems(session, i, now),)
        if names := ", ".join(self._settings.motors[i].joint for i in saturated):
            text = f"{names}: command saturated to what the wire carries"
            reason = Reason.of(COMMAND_SATURATED, text)
            problems += (Problem(SafetyLevel.WARNING, SafetyFlag.NONE, reason),)
        if problems != self._seen:
            self._seen = problems
            self.report = _report(self._settings.name, problems)

    def motor_problems(self, session: Session, i: int, now: float) -> Iterable[Problem]:
        """Yield the problems at `now` [s] that the frames of motor `i` show."""
        motor = self._settings.motors[i]
        yield from _state_problems(motor, session.states[i])
        if (reason := self.efforts.problems.get(i)) is not None:
            yield Problem(SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, reason)
        # Motors answer a guard's orders, too.
        if not self.guard and session.frame_counts.are_too_many(i, now):
            text = f"{motor}: sends more frames than one motor: do two motors have this id?"
            if not session.frame_counts.rate:
                text += " Or has another program switched on its active reporting? Clear the fault"
            yield Problem(
                SafetyLevel.FAULT, SafetyFlag.INVALID_FRAME, Reason.of(DUPLICATE_ID, text)
            )

    def silent_motors(self, session: Session) -> Sequence[Motor]:
        """Return the motors that have sent or answered nothing for too long."""
        return self._beyond(session.silent_for)

    def bus_problems(
        self, session: Session, silent: Sequence[Motor], now: float
    ) -> Iterable[Problem]:
        """Yield the problems of the bus at `now` [s], those of its `silent` motors included."""
        health, bus = session.health, self._settings.bus
        yield from self._remarks()
        recently = now - self._timing.recent
        since = session.transmit_queue.waiting_since()
        overrun = since is not None and now - since > self._overrun
        symptom = health.symptom(bus, recently, stuck=overrun)
        if health.lost:
            gone = SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT
            flags = SafetyFlag.MOTOR_FAULT if health.abandoned else gone
            reason = health.lost.worded(f"{health.lost}; then clear the fault")
            yield Problem(SafetyLevel.FAULT, flags, reason)
            return
        if health.was_off:
            yield Problem(SafetyLevel.FAULT, SafetyFlag.BUS_OFF, symptom)
        silence = tuple(self._silence_problems(session, silent, symptom))
        yield from silence
        if overrun:
            text = f"commands don't get out on {bus}"
            yield Problem(
                SafetyLevel.FAULT, SafetyFlag.TX_QUEUE_OVERRUN, Reason.of(TX_QUEUE_OVERRUN, text)
            )
        elif health.refuses(recently):
            text = f"{bus}: the adapter refuses frames"
            yield Problem(
                SafetyLevel.WARNING, SafetyFlag.TX_QUEUE_OVERRUN, Reason.of(TX_QUEUE_OVERRUN, text)
            )
        if health.invalid_at > recently:
            yield Problem(
                SafetyLevel.WARNING,
                SafetyFlag.INVALID_FRAME,
                Reason.of(INVALID_FRAME, health.invalid),
            )
        if health.disturbed(recently) and not silence and not health.was_off:
            yield Problem(SafetyLevel.WARNING, SafetyFlag.NONE, symptom)

    def _remarks(self) -> Iterable[Problem]:
        if self.remark:
            yield Problem(SafetyLevel.FAULT, SafetyFlag.NONE, self.remark)
        if self.guard:
            yield Problem(SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, self.guard)
        if self.unguarded:
            yield Problem(SafetyLevel.WARNING, SafetyFlag.NONE, self.unguarded)

    def _silence_problems(
        self, session: Session, silent: Sequence[Motor], symptom: Reason
    ) -> Iterable[Problem]:
        if silent:
            why = symptom.text or "motor off? reset by itself? cable?"
            reason = Reason.of(RX_TIMEOUT, f"{_named(silent)}: silent: {why}", symptom)
            yield Problem(SafetyLevel.FAULT, SafetyFlag.RX_TIMEOUT, reason)
        halves = [motor for motor in self._beyond(session.unmeasured_for) if motor not in silent]
        if halves:
            text = (
                f"{_named(halves)}: sends frames, but not both position and velocity: does it "
                "ignore its commands? Does another host use it?"
            )
            reason = Reason.of(HALF_FEEDBACK, text)
            yield Problem(SafetyLevel.FAULT, SafetyFlag.RX_TIMEOUT, reason)

    def _beyond(self, age: Callable[[int], float]) -> list[Motor]:
        limit = self._timing.silence
        return [motor for i, motor in enumerate(self._settings.motors) if age(i) > limit]


def _state_problems(motor: Motor, state: MotorState) -> Iterable[Problem]:
    faults = joined((state.fault, state.report), ", ")
    if faults:
        reason = Reason.of(MOTOR_FAULT, f"{motor}: {faults}", faults)
        yield Problem(SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, reason)
    elif state.enabled is False:
        text = f"{motor}: is disabled, maybe restarted: clear the fault"
        yield Problem(SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, Reason.of(MOTOR_DISABLED, text))
    if state.hot or state.warned:
        degrees = state.temperature_celsius
        measured = "" if degrees is None else f", {degrees:.0f} °C"
        text = f"{motor}: over temperature{measured}"
        yield Problem(
            SafetyLevel.WARNING, SafetyFlag.TEMPERATURE_LIMIT, Reason.of(TEMPERATURE_LIMIT, text)
        )
    if state.at_rail:
        text = f"{motor}: velocity at or above the feedback range"
        yield Problem(SafetyLevel.WARNING, SafetyFlag.NONE, Reason.of(VELOCITY_AT_RAIL, text))


def _named(motors: Iterable[Motor]) -> str:
    return ", ".join(map(str, motors))


def _report(name: str, problems: Sequence[Problem]) -> SafetyReport:
    level, flags = SafetyLevel.OK, SafetyFlag.NONE
    for problem in problems:
        level, flags = max(level, problem.level), flags | problem.flags
    worst_first = sorted(problems, key=lambda problem: -problem.level)
    found = joined(problem.reason for problem in worst_first)
    return SafetyReport(name, level, flags, found.text, found.codes)
