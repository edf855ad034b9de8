"""Diagnostics of a CAN bus and its motors, and the counters they show."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel, level_of, yes_or_no
from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined
from humanoid_devices_can.bus.bus import LONGEST_FRAME
from humanoid_devices_can.bus.error_frames import ControllerState
from humanoid_devices_can.frame_share import FrameShare
from humanoid_devices_can.motor_monitor import MotorMonitor, Problem
from humanoid_devices_can.motor_protocol import MotorState
from humanoid_devices_can.reason_codes import FRAMES_LOST, RX_TIMEOUT
from humanoid_devices_can.session.health import Health
from humanoid_devices_can.session.session import Session
from humanoid_devices_can.settings import CanSettings
from humanoid_devices_can.timing import Timing

COUNTED: Final = (
    "frames sent",
    "frames received",
    "error frames",
    "invalid frames",
    "frames refused",
)


def counts(session: Session | None) -> tuple[int, ...]:
    """Return the counters in the order of COUNTED, since the bus was opened; 0 while closed."""
    if session is None:
        return (0,) * len(COUNTED)
    health = session.health
    return (
        health.sent,
        health.received,
        health.error_frames,
        health.invalid_frames,
        health.refusals,
    )


NOT_ACTIVE: Final = "not active"
NOT_REPORTED: Final = "not reported"


@dataclass(frozen=True, slots=True)
class ComponentValues:
    """Values of the component besides the session's state; arrays have one entry per motor."""

    monitor: MotorMonitor
    saturations: NDArray[np.int64]  # commands that did not fit the wire


@dataclass(frozen=True, slots=True)
class _Traffic:
    """Frames counted up to a time [s]."""

    health: Health  # identifies the session
    time: float
    frames: int


class CanDiagnostics:
    """Called by one thread; reads the state of the others, one whole value at a time."""

    def __init__(self, settings: CanSettings, timing: Timing, clock: Callable[[], float]) -> None:
        self._settings, self._timing, self._clock = settings, timing, clock
        self._before: _Traffic | None = None
        self._share: FrameShare | None = None  # of the session

    def take(self, session: Session | None, component: ComponentValues) -> list[Diagnosis]:
        """Return the diagnoses of the bus and of each motor, named after its joint."""
        settings, now = self._settings, self._clock()
        if session is None:
            names = [_bus_name(settings), *(_joint_name(motor.joint) for motor in settings.motors)]
            stale = DiagnosisLevel.STALE
            return [Diagnosis(name, stale, NOT_ACTIVE, source=settings.name) for name in names]
        if self._share is None or self._share.counts is not session.frame_counts:
            self._share = FrameShare(session.frame_counts)
        share = self._share
        share.update(session.health.drained)
        monitor = component.monitor
        problems = monitor.bus_problems(session, monitor.silent_motors(session), now)
        level, reason = _summed_up(problems)
        message = reason.text if reason else f"{len(settings.motors)} motors on {settings.bus}"
        values = dict(self._bus_values(session, now))
        bus = Diagnosis(_bus_name(settings), level, message, values, settings.name, reason.codes)
        return [
            bus,
            *(self._motor(session, component, share, i, now) for i in range(len(settings.motors))),
        ]

    def _bus_values(self, session: Session, now: float) -> Iterator[tuple[str, str]]:
        health, bus = session.health, self._settings.bus
        yield "interface", str(bus)
        yield "bitrate [bit/s]", str(bus.bitrate)
        yield "controller", self._controller(health, now).value
        counters = health.error_counters
        yield "transmit error counter", str(counters[0]) if counters else NOT_REPORTED
        yield "receive error counter", str(counters[1]) if counters else NOT_REPORTED
        yield "load by motors and host, at most [%]", f"{self._load(health, now):.1f}"
        yield "frames sent", str(health.sent)
        yield "frames received", str(health.received)
        yield "error frames", str(health.error_frames)
        yield "frames refused by the adapter", str(health.refusals)
        yield "invalid frames", str(health.invalid_frames)
        yield "latest invalid frame", health.invalid or "none"
        since = session.transmit_queue.waiting_since()
        yield "oldest command waits [ms]", f"{0.0 if since is None else (now - since) * 1e3:.1f}"

    def _controller(self, health: Health, now: float) -> ControllerState:
        if health.was_off:
            return ControllerState.OFF
        passive = health.passive_at > now - self._timing.recent
        return ControllerState.PASSIVE if passive else ControllerState.ACTIVE

    def _load(self, health: Health, now: float) -> float:
        """Return the share [%] of the bus in use since the last report, counting longest frames."""
        before = self._before
        self._before = latest = _Traffic(health, now, health.sent + health.received)
        if before is None or before.health is not health or now <= before.time:
            return 0.0
        bits = (latest.frames - before.frames) * LONGEST_FRAME
        return 100.0 * bits / (self._settings.bus.bitrate * (now - before.time))

    def _motor(
        self, session: Session, component: ComponentValues, share: FrameShare, i: int, now: float
    ) -> Diagnosis:
        motor, state = self._settings.motors[i], session.states[i]
        level, reason = self._judged(session, component.monitor, i, now)
        arrive = _percent(share.latest[i])
        if share.lacking[i] and level < DiagnosisLevel.ERROR:
            lost = Reason.of(FRAMES_LOST, f"only {arrive} % of its frames arrive")
            level, reason = DiagnosisLevel.WARN, joined((lost, reason))
        message = reason.text if reason else "answers"
        efforts = component.monitor.efforts
        values = {
            "id": str(motor.id),
            "model": motor.model,
            "enabled": NOT_REPORTED if state.enabled is None else yes_or_no(state.enabled),
            "faults": joined((state.fault, state.report), ", ").text or "none",
            "temperature [degC]": _temperature(state),
            "latest frame [ms ago]": f"{(now - state.stamp) * 1e3:.0f}",
            "frames that arrive [%]": arrive,
            "stiffness in force [Nm/rad]": f"{session.gains.stiffness[i]:g}",
            "damping in force [Nm s/rad]": f"{session.gains.damping[i]:g}",
            "saturated commands": str(component.saturations[i]),
            "effort deviation, at most [Nm]": f"{efforts.largest[i]:.3g}",
            "effort deviation, bound [Nm]": f"{efforts.tolerance[i]:.3g}",
        }
        name = _joint_name(motor.joint)
        return Diagnosis(name, level, message, values, self._settings.name, reason.codes)

    def _judged(
        self, session: Session, monitor: MotorMonitor, i: int, now: float
    ) -> tuple[DiagnosisLevel, Reason]:
        if session.health.lost:
            return DiagnosisLevel.ERROR, session.health.lost
        level, reason = _summed_up(monitor.motor_problems(session, i, now))
        motor = self._settings.motors[i]  # it is in the name of the diagnosis already
        reason = reason.worded(reason.text.replace(f"{motor}: ", ""))
        silence = session.unmeasured_for(i)
        if silence <= self._timing.silence:
            return level, reason
        silent = Reason.of(RX_TIMEOUT, f"silent for {silence:.1f} s (RX_TIMEOUT)")
        return DiagnosisLevel.ERROR, joined((silent, reason))


def _bus_name(settings: CanSettings) -> str:
    return f"bus: {settings.name}"


def _joint_name(joint: str) -> str:
    return f"joint: {joint}"


def _percent(share: float) -> str:
    return NOT_REPORTED if math.isnan(share) else f"{share * 100.0:.0f}"


def _temperature(state: MotorState) -> str:
    degrees = state.temperature_celsius
    return NOT_REPORTED if degrees is None else f"{degrees:.1f}"


def _summed_up(problems: Iterable[Problem]) -> tuple[DiagnosisLevel, Reason]:
    """Return the worst level, and all reasons as one."""
    found: Sequence[Problem] = sorted(problems, key=lambda problem: -problem.level)
    if not found:
        return DiagnosisLevel.OK, NO_REASON
    return level_of(found[0].level), joined(problem.reason for problem in found)
