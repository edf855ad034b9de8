"""What is wrong on the bus, as observed now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from humanoid_control_common.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_devices_can.motor_state import MotorState
from humanoid_devices_can.session import Session
from humanoid_devices_can.settings import CanSettings, Motor
from humanoid_devices_can.timing import Timing


class Problem(NamedTuple):
    """One thing to report."""

    level: SafetyLevel
    flags: SafetyFlag
    text: str


class Supervisor:
    """Makes the safety report; the same object until something changes."""

    def __init__(self, settings: CanSettings, timing: Timing) -> None:
        self.report = SafetyReport(settings.name)
        self.remark = ""  # what a user must know until it is taken back; a FAULT
        self.guard = ""  # what the guard does, or could not do; a FAULT
        self.unguarded = ""  # nobody would disable the motors; a WARNING
        self._settings, self._timing = settings, timing
        self._overrun = max(timing.overrun_periods / settings.update_rate, timing.shortest_overrun)
        self._seen: tuple[Problem, ...] = ()

    def faulty(self, session: Session) -> list[int]:
        """Motors that must be enabled anew."""
        return [
            i
            for i, state in enumerate(session.states)
            if session.unmeasured_for(i) > self._timing.silence
            or state.enabled is False
            or state.fault
            or state.report
        ]

    def unreachable(self, session: Session) -> bool:
        """Whether the bus must be opened anew."""
        health, limit = session.health, self._timing.silence
        silent = (session.silent_for(i) > limit for i in range(len(session.states)))
        return bool(health.lost) or health.was_off or all(silent)

    def look(self, session: Session, now: float, saturated: Iterable[int]) -> None:
        """Judge `session` at `now` [s]; `saturated`: motors whose command did not fit the wire."""
        problems = (*self.of_the_bus(session, now),)
        if not session.health.lost:
            for i in range(len(self._settings.motors)):
                problems += (*self.of_motor(session, i, now),)
        problems += (*_of_commands([self._settings.motors[i] for i in saturated]),)
        if problems != self._seen:
            self._seen = problems
            self.report = _report(self._settings.name, problems)

    def _remarks(self) -> Iterable[Problem]:
        if self.remark:
            yield Problem(SafetyLevel.FAULT, SafetyFlag.NONE, self.remark)
        if self.guard:
            yield Problem(SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, self.guard)
        if self.unguarded:
            yield Problem(SafetyLevel.WARNING, SafetyFlag.NONE, self.unguarded)

    def of_motor(self, session: Session, i: int, now: float) -> Iterable[Problem]:
        """What is wrong at `now` [s] with the motor `i` as far as it is heard."""
        motor = self._settings.motors[i]
        yield from _of_motor(motor, session.states[i])
        if session.crowding.crowded(i, now):
            yield _crowd(motor)

    def of_the_bus(self, session: Session, now: float) -> Iterable[Problem]:
        """What is wrong at `now` [s] with the bus, silent motors included."""
        health, bus = session.health, self._settings.bus
        yield from self._remarks()
        recently = now - self._timing.recent
        since = session.outbox.waiting_since()
        overrun = since is not None and now - since > self._overrun
        symptom = health.symptom(bus, recently, stuck=overrun)
        if health.lost:
            gone = SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT
            flags = SafetyFlag.MOTOR_FAULT if health.abandoned else gone
            yield Problem(SafetyLevel.FAULT, flags, f"{health.lost}; then clear the fault")
            return
        if health.was_off:
            yield Problem(SafetyLevel.FAULT, SafetyFlag.BUS_OFF, symptom)
        silence = tuple(self._of_silence(session, symptom))
        yield from silence
        if overrun:
            text = f"commands don't get out on {bus}"
            yield Problem(SafetyLevel.FAULT, SafetyFlag.TX_QUEUE_OVERRUN, text)
        elif health.refuses(recently):
            text = f"{bus}: the adapter refuses frames"
            yield Problem(SafetyLevel.WARNING, SafetyFlag.TX_QUEUE_OVERRUN, text)
        if health.invalid_at > recently:
            yield Problem(SafetyLevel.WARNING, SafetyFlag.INVALID_FRAME, health.invalid)
        if health.troubled(recently) and not silence and not health.was_off:
            yield Problem(SafetyLevel.WARNING, SafetyFlag.NONE, symptom)

    def _of_silence(self, session: Session, symptom: str) -> Iterable[Problem]:
        silent = self._beyond(session.silent_for)
        if silent:
            text = f"{_named(silent)}: silent: {symptom or 'motor off? reset by itself? cable?'}"
            yield Problem(SafetyLevel.FAULT, SafetyFlag.RX_TIMEOUT, text)
        halves = [motor for motor in self._beyond(session.unmeasured_for) if motor not in silent]
        if halves:
            text = f"{_named(halves)}: tells only half of its state: does another host use it?"
            yield Problem(SafetyLevel.FAULT, SafetyFlag.RX_TIMEOUT, text)

    def _beyond(self, age: Callable[[int], float]) -> list[Motor]:
        limit = self._timing.silence
        return [motor for i, motor in enumerate(self._settings.motors) if age(i) > limit]


def _of_motor(motor: Motor, state: MotorState) -> Iterable[Problem]:
    faults = ", ".join(text for text in (state.fault, state.report) if text)
    if faults:
        flags = SafetyFlag.MOTOR_FAULT
        yield Problem(SafetyLevel.FAULT, flags, f"{motor}: {faults}")
    elif state.enabled is False:
        text = f"{motor}: is disabled, maybe restarted: clear the fault"
        yield Problem(SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, text)
    if state.hot or state.warned:
        degrees = state.temperature_celsius
        measured = "" if degrees is None else f", {degrees:.0f} °C"
        text = f"{motor}: over temperature{measured}"
        yield Problem(SafetyLevel.WARNING, SafetyFlag.TEMPERATURE_LIMIT, text)
    if state.at_rail:
        text = f"{motor}: turns about as fast as its feedback can say, or faster"
        yield Problem(SafetyLevel.WARNING, SafetyFlag.NONE, text)


def _crowd(motor: Motor) -> Problem:
    text = f"{motor}: says more than one motor would: have two motors this id?"
    return Problem(SafetyLevel.FAULT, SafetyFlag.INVALID_FRAME, text)


def _named(motors: Iterable[Motor]) -> str:
    return ", ".join(map(str, motors))


def _of_commands(saturated: Sequence[Motor]) -> Iterable[Problem]:
    if saturated:
        names = ", ".join(motor.joint for motor in saturated)
        text = f"{names}: command saturated to what the wire carries"
        yield Problem(SafetyLevel.WARNING, SafetyFlag.NONE, text)


def _report(name: str, problems: Sequence[Problem]) -> SafetyReport:
    level, flags = SafetyLevel.OK, SafetyFlag.NONE
    for problem in problems:
        level, flags = max(level, problem.level), flags | problem.flags
    worst_first = sorted(problems, key=lambda problem: -problem.level)
    return SafetyReport(name, level, flags, "; ".join(problem.text for problem in worst_first))
