"""Judge a fault by the truth: the motion of each joint in each millisecond."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fault_campaign.judging.bounds import (
    DRIVING,
    EFFORT,
    FOLLOWING,
    JUMP,
    JUMP_TIME,
    SETTLED,
    SPEED,
    STEP,
    Limits,
)
from fault_campaign.judging.violation import Violation, ViolationType
from humanoid_twin.physics.recorder import Recording

_GENERAL: Final = {
    ViolationType.SPEED: SPEED,
    ViolationType.EFFORT: EFFORT,
    ViolationType.JUMP: JUMP,
}
_TEXT: Final = {
    ViolationType.SPEED: "{:.2f} of its limit",
    ViolationType.EFFORT: "{:.2f} of its limit",
    ViolationType.JUMP: "{:.3f} rad off its course",
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """Verdict on one fault. Ratios are to joint limits; missing data gives infinite figures."""

    speed: float  # worst ratio
    effort: float  # worst ratio of torques that accelerate a joint
    braking: float  # worst ratio of torques that slow a joint down; reported, not limited
    jump: float  # [rad] largest distance of a joint from its course within 20 ms
    softened: float | None  # [s] until no joint was stiff; None: never
    violations: tuple[Violation, ...]
    known: tuple[Violation, ...] = ()  # beyond a general bound, within what the kind allows
    counted_from: float = 0.0  # [s] robot time from which `softened` counts: the fault, or the fall


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Part of a recording to judge, with its bounds."""

    fault: float  # [s] of the robot
    soft_from: float | None = None  # [s] time from which `within` counts; None: the fault
    end: float  # [s] when the fault was mended
    within: float | None = None  # [s] until all joints must be soft; None: they need not be
    spared: Collection[str] = ()  # joints that cannot be softened any more
    follows: Collection[str] = ()  # joints of which a target that follows counts as soft
    allowed: Mapping[ViolationType, float] = field(
        default_factory=dict
    )  # instead of the general bounds

    @property
    def counted_from(self) -> float:
        """Return the time [s] from which `within` counts."""
        return self.fault if self.soft_from is None else self.soft_from


def judge(recording: Recording, window: Window, limits: Limits) -> Verdict:
    """Judge the recording from its beginning to the end of the window."""
    gaps = _missing(recording, window, limits)
    if gaps:
        return Verdict(math.inf, math.inf, math.inf, math.inf, None, tuple(gaps))
    names = recording.names
    until = int(np.searchsorted(recording.time, window.end, side="right"))
    velocity, torque = recording.velocity[:until], recording.torque[:until]
    most = [limits[name][1] for name in names]
    # The effort that brakes a joint is not limited: a joint that is too fast needs it all.
    brakes = torque * velocity < 0.0
    rows = {
        ViolationType.SPEED: _ratios(velocity, [limits[name][0] for name in names]),
        ViolationType.EFFORT: _ratios(np.where(brakes, 0.0, torque), most),
        ViolationType.JUMP: _jumps(recording.position[:until], velocity),
    }
    found = {
        violation_type: ratios.max(axis=0, initial=0.0) for violation_type, ratios in rows.items()
    }
    violations: list[Violation] = []
    known: list[Violation] = []
    for violation_type, values in found.items():
        for i in np.flatnonzero(values > _GENERAL[violation_type]):
            text = f"{names[i]}: {_TEXT[violation_type].format(values[i])}"
            bound = window.allowed.get(violation_type, _GENERAL[violation_type])
            beyond = values[i] > bound
            over = rows[violation_type][:, i] > (bound if beyond else _GENERAL[violation_type])
            at = float(recording.time[until - len(over) + int(np.argmax(over))])
            (violations if beyond else known).append(Violation(violation_type, text, at))
    softened = _softened(recording, window)
    violations += _softness(recording, window, softened)
    violations += _driven(recording, window)
    return Verdict(
        speed=float(found[ViolationType.SPEED].max()),
        effort=float(found[ViolationType.EFFORT].max()),
        braking=float(_ratios(np.where(brakes, torque, 0.0), most).max()),
        jump=float(found[ViolationType.JUMP].max()),
        softened=softened,
        violations=tuple(violations),
        known=tuple(known),
        counted_from=window.counted_from,
    )


def judge_way_back(recording: Recording, window: Window, limits: Limits) -> list[Violation]:
    """Judge the rest of the recording, after `window`, by its bounds: no joint becomes stiff.

    A target that follows counts as soft only for a drive that was stiff at the end of the window.
    Joints that could not be reached in the window are not judged: they do what they did last.
    """
    begin = max(int(np.searchsorted(recording.time, window.end, side="right")) - 1, 0)
    rest = Recording(recording.names, *(getattr(recording, it)[begin:] for it in _ARRAYS))
    stiff = [rest.names[i] for i in np.flatnonzero(rest.stiffness[0])]
    later = replace(
        window,
        fault=window.end,
        soft_from=None,
        end=float(rest.time[-1]),
        within=0.0,
        follows=[it for it in window.follows if it in stiff],
    )
    return [
        replace(it, text=f"on the way back: {it.text}")
        for it in judge(rest, later, limits).violations
        if it.text.partition(":")[0] not in window.spared
    ]


_ARRAYS: Final = ("time", "position", "velocity", "torque", "stiffness", "pull")


def _missing(recording: Recording, window: Window, limits: Limits) -> list[Violation]:
    """Return what the recording lacks: joints, rows from fault to end, finite numbers."""
    lack = sorted(set(limits) ^ set(recording.names))
    if lack:
        return [
            Violation(ViolationType.NO_DATA, f"the recording has {', '.join(lack)} not as expected")
        ]
    time = recording.time
    if not time.size or not (time[0] <= window.fault <= window.end <= time[-1] + 1.5 * STEP):
        has = f"{time[0]:.3f} to {time[-1]:.3f} s" if time.size else "nothing"
        needs = f"{window.fault:.3f} to {window.end:.3f} s"
        return [Violation(ViolationType.NO_DATA, f"the recording has {has}, needed are {needs}")]
    until = int(np.searchsorted(time, window.end, side="right"))
    steps = np.diff(time[:until])
    if not (np.abs(steps - STEP) < STEP / 2).all():
        at = time[int(np.argmax(~(np.abs(steps - STEP) < STEP / 2)))]
        return [Violation(ViolationType.NO_DATA, f"rows are missing after {at:.3f} s")]
    values = {
        "position": recording.position,
        "velocity": recording.velocity,
        "torque": recording.torque,
        "stiffness": recording.stiffness,
        "pull": recording.pull,
    }
    found = []
    for what, rows in values.items():
        bad = ~np.isfinite(rows[:until]).all(axis=0)
        found += [
            Violation(ViolationType.NO_DATA, f"{recording.names[i]}: {what} is not finite")
            for i in np.flatnonzero(bad)
        ]
    return found


def _softness(
    recording: Recording, window: Window, softened: float | None
) -> tuple[Violation, ...]:
    if window.within is None:
        return ()
    due = window.counted_from + window.within
    if softened is None:
        text = f"{', '.join(_stiff(recording, window))} at the end"
        return (Violation(ViolationType.NEVER_SOFT, text, due),)
    if softened > window.within:
        text = f"after {softened:.3f} s, stated are {window.within:g} s"
        return (Violation(ViolationType.SOFT_TOO_LATE, text, due),)
    return ()


def _driven(recording: Recording, window: Window) -> list[Violation]:
    """Return the joints that drives move although they must be soft: damping only slows down."""
    if window.within is None:
        return []
    begin = max(int(np.searchsorted(recording.time, window.counted_from + window.within)), 1)
    until = int(np.searchsorted(recording.time, window.end))
    # A drive computes its torque from the velocity before: a joint that bounces has another after.
    torque, velocity = recording.torque[begin:until], recording.velocity[begin - 1 : until - 1]
    exempt = np.array([it in window.spared or it in window.follows for it in recording.names])
    judged = (torque * velocity > 0.0) & ~_hard(recording, window)[begin:until] & ~exempt
    driving = np.where(judged, np.abs(torque), 0.0)
    return [
        Violation(
            ViolationType.DRIVEN,
            f"{recording.names[i]}: with {driving[:, i].max():.2f} Nm, soft as it is",
            float(recording.time[begin + int(np.argmax(driving[:, i] > DRIVING))]),
        )
        for i in np.flatnonzero(driving.max(axis=0, initial=0.0) > DRIVING)
    ]


def _stiff(recording: Recording, window: Window) -> list[str]:
    """Return the joints that were stiff last."""
    hard = _hard(recording, window)
    hard = hard[: int(np.searchsorted(recording.time, window.end))]
    last = hard[np.flatnonzero(hard.any(axis=1))[-1]]
    return [recording.names[i] for i in np.flatnonzero(last)]


def _ratios(values: NDArray[np.float64], limits: list[float]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.abs(values) / np.array(limits)
    return found


def _jumps(position: NDArray[np.float64], velocity: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each joint's distance from its course [rad]; row i ends with step i + JUMP_TIME."""
    way = position[JUMP_TIME:] - position[:-JUMP_TIME]
    off = np.abs(way - velocity[:-JUMP_TIME] * (JUMP_TIME * STEP))
    # Its damping slows a joint down, or the stop that it reaches.
    slower = np.abs(velocity[JUMP_TIME:]) < np.abs(velocity[:-JUMP_TIME])
    off[slower] = 0.0
    found: NDArray[np.float64] = off
    return found


def _hard(recording: Recording, window: Window) -> NDArray[np.bool_]:
    """Return which joint is stiff in which step, shape (steps, n_joints)."""
    hard: NDArray[np.bool_] = recording.stiffness != 0.0
    follows = np.array([name in window.follows for name in recording.names])
    hard = hard & ~(follows & (np.abs(recording.pull) <= FOLLOWING))
    spared = np.array([name in window.spared for name in recording.names])
    found: NDArray[np.bool_] = hard & ~spared
    return found


def _softened(recording: Recording, window: Window) -> float | None:
    begin = int(np.searchsorted(recording.time, window.counted_from))
    until = int(np.searchsorted(recording.time, window.end))
    when = np.flatnonzero(_hard(recording, window)[begin:until].any(axis=1))
    if not when.size:
        return 0.0
    last = begin + int(when[-1]) + 1
    if last >= until or recording.time[until - 1] - recording.time[last] < SETTLED:
        return None
    return float(recording.time[last] - window.counted_from)
