"""Limits of motion, and the check of a trajectory against them: everywhere, not at points only."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.polynomials import extremes
from humanoid_motion.trajectory.trajectory import Trajectory

ROUNDING: Final = 1e-6  # relative, of a limit: a motion may be made to reach it exactly
_QUANTITIES: Final = (("position", "rad"), ("velocity", "rad/s"), ("acceleration", "rad/s²"))


@dataclass(frozen=True, slots=True)
class MotionLimits:
    """Limits of each joint, (n,)."""

    lower: FloatArray  # [rad]
    upper: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    acceleration: FloatArray  # [rad/s^2]
    jerk: FloatArray  # [rad/s^3] of motions planned here; a given trajectory has no limit


def refuse_beyond(
    trajectory: Trajectory, limits: MotionLimits, joints: JointSet, first: int = 0
) -> None:
    """Raise MotionRefusedError if the trajectory leaves the limits, for the first point and joint.

    A joint that starts outside of its range may not move further out.

    Args:
        trajectory: of n joints.
        limits: of each of them.
        joints: their names.
        first: number of the point at the end of the first segment, as the user counts.
    """
    duration = np.diff(trajectory.knots)
    lowest, highest = extremes(trajectory.coefficients, duration)
    start = trajectory.coefficients[0, 0]
    speed, bend = limits.velocity, limits.acceleration
    least = np.stack([np.minimum(limits.lower, start), -speed, -bend])[:, None]
    most = np.stack([np.maximum(limits.upper, start), speed, bend])[:, None]
    slack = ROUNDING * np.maximum(np.abs(least), np.abs(most))
    wrong = (lowest < least - slack) | (highest > most + slack) | ~np.isfinite(lowest + highest)
    if not wrong.any():
        return
    segment, quantity, joint = np.argwhere(wrong.transpose(1, 0, 2))[0]
    name, unit = _QUANTITIES[quantity]
    low, high = least[quantity, 0, joint], most[quantity, 0, joint]
    below = lowest[quantity, segment, joint] < low
    found = (lowest if below else highest)[quantity, segment, joint]
    hint = _hint(quantity, trajectory, lowest, highest, limits)
    raise MotionRefusedError(
        f"point {first + segment} (at {trajectory.knots[segment + 1]:.3g} s), "
        f"{joints.names[joint]}: {name} {found:.4g} {unit} on the way to it, "
        f"allowed {low:.4g} to {high:.4g} {unit}{hint}",
        point=int(first + segment),
    )


def _hint(
    quantity: int,
    trajectory: Trajectory,
    lowest: FloatArray,
    highest: FloatArray,
    limits: MotionLimits,
) -> str:
    """Return how much longer a motion from rest has to take; empty if that is no remedy."""
    if quantity == 0 or np.any(trajectory.at(0.0)[1:2]):
        return ""
    speed, bend = np.maximum(-lowest, highest)[1:]
    longer = max((speed / limits.velocity).max(), np.sqrt(bend / limits.acceleration).max())
    return f"; {np.ceil(longer * 100) / 100:.2f} times the time is enough"
