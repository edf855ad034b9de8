"""Judges a fault by the truth: what every joint did in every millisecond."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_controller_manager.urdf import parse_robot_description
from humanoid_twin.physics.recorder import Recording
from prime_description import expand

# Of the limits in the robot's description. Targets move at the speed limit at most, and joints
# swing beyond their targets; beyond this the loop itself takes a joint for a runaway.
SPEED: Final = 1.5
# The loop bounds the sum of the law by its own measurements; those of the motor are up to a period
# of the loop newer.
EFFORT: Final = 1.02
# What a following target may pull with: a joint that moves with 0.5 rad/s is 40 ms ahead of it.
FOLLOWING: Final = 1.0  # [Nm]
# Within one period of the loop a joint may leave the course it was on by so much: a torque of 2 Nm
# does that to a wrist, one of 15 Nm to a shoulder.
JUMP: Final = 0.03  # [rad]
# The same where it is told to go at its full speed at once: that is 3.1 rad/s, and damping of
# 2 Nm s/rad pulls with 6 Nm then.
HURRY: Final = 0.06  # [rad]
JUMP_TIME: Final = 20  # [ms]
SETTLED: Final = 0.05  # [s] it must have been soft at the end


@dataclass(frozen=True, slots=True)
class Verdict:
    """Of one fault. Ratios are to the limits of the robot's description."""

    speed: float  # worst ratio
    effort: float  # worst ratio of what drives a joint on
    braking: float  # worst ratio of what slows a joint down; reported, not limited
    jump: float  # [rad] worst way off a joint's course within 20 ms
    softened: float | None  # [s] from the fault until no joint was stiff; None: never
    violations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """Of every joint, in an order of their own."""

    velocity: Mapping[str, float]  # [rad/s]
    effort: Mapping[str, float]  # [Nm]


def described_limits() -> Limits:
    """Those of Prime's description."""
    found = parse_robot_description(expand({"use_sim": "true"}), 200.0)
    names = found.joints.names
    return Limits(
        dict(zip(names, found.limits.velocity.tolist(), strict=True)),
        dict(zip(names, found.limits.effort.tolist(), strict=True)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What of a recording is judged, and how."""

    fault: float  # [s] of the robot
    end: float  # [s] when the fault was mended
    spared: Collection[str] = ()  # joints that can't be softened any more
    follows: bool = False
    jump: float = JUMP  # [rad]


def judge(recording: Recording, limits: Limits, window: Window) -> Verdict:
    """Look at everything from the beginning of the recording to the end of the window."""
    names = recording.names
    until = int(np.searchsorted(recording.time, window.end, side="right"))
    speed = _worst(recording.velocity[:until], [limits.velocity[name] for name in names])
    velocity, torque = recording.velocity[:until], recording.torque[:until]
    most = [limits.effort[name] for name in names]
    # A joint that is too fast is braked with all its drive can: that is never taken away.
    brakes = torque * velocity < 0.0
    effort = _worst(np.where(brakes, 0.0, torque), most)
    braking = _worst(np.where(brakes, torque, 0.0), most)
    jumps = _jumps(recording.position[:until], velocity)
    violations = [
        f"{names[i]}: speed {speed[i]:.2f} of its limit" for i in np.flatnonzero(speed > SPEED)
    ]
    violations += [
        f"{names[i]}: effort {effort[i]:.2f} of its limit" for i in np.flatnonzero(effort > EFFORT)
    ]
    violations += [
        f"{names[i]}: jumped by {jumps[i]:.3f} rad" for i in np.flatnonzero(jumps > window.jump)
    ]
    softened = _softened(recording, window)
    return Verdict(
        float(speed.max()),
        float(effort.max()),
        float(braking.max()),
        float(jumps.max()),
        softened,
        tuple(violations),
    )


def stiff(recording: Recording, window: Window) -> list[str]:
    """Who is stiff at the end of the window."""
    until = max(int(np.searchsorted(recording.time, window.end)) - 1, 0)
    hard = _hard(recording, window)[until]
    return [recording.names[i] for i in np.flatnonzero(hard)]


def _worst(values: NDArray[np.float64], limits: list[float]) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.abs(values).max(axis=0, initial=0.0) / np.array(limits)
    return found


def _jumps(position: NDArray[np.float64], velocity: NDArray[np.float64]) -> NDArray[np.float64]:
    way = position[JUMP_TIME:] - position[:-JUMP_TIME]
    off = np.abs(way - velocity[:-JUMP_TIME] * (JUMP_TIME / 1000))
    # What slows a joint down is its damping, or the stop it swings into.
    slower = np.abs(velocity[JUMP_TIME:]) < np.abs(velocity[:-JUMP_TIME])
    off[slower] = 0.0
    found: NDArray[np.float64] = off.max(axis=0, initial=0.0)
    return found


def _hard(recording: Recording, window: Window) -> NDArray[np.bool_]:
    """Which joint is stiff when, shape (steps, n_joints)."""
    hard: NDArray[np.bool_] = recording.stiffness > 0.0
    if window.follows:
        hard = hard & (np.abs(recording.pull) > FOLLOWING)
    spared = np.array([name in window.spared for name in recording.names])
    found: NDArray[np.bool_] = hard & ~spared
    return found


def _softened(recording: Recording, window: Window) -> float | None:
    begin = int(np.searchsorted(recording.time, window.fault))
    until = int(np.searchsorted(recording.time, window.end))
    when = np.flatnonzero(_hard(recording, window)[begin:until].any(axis=1))
    if not when.size:
        return 0.0
    last = begin + int(when[-1]) + 1
    if last >= until or recording.time[until - 1] - recording.time[last] < SETTLED:
        return None
    return float(recording.time[last] - window.fault)
