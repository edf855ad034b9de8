"""Compute the effort of a joint from its error: PID, deadband, friction, limits, in this order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.clamping import clamp
from humanoid_control_common.robot.joints import FloatArray
from humanoid_servo_controllers.servo.friction_compensation import FrictionCompensation


class OutputStage:
    """The last steps, the same for all servo controllers: what they demand becomes an effort.

    The demand is limited to the largest effort, friction is added to it unless the joint holds, the
    sum is limited again, and what is too small to move the motor becomes 0.

    Args:
        max_force: largest effort [Nm], (n,).
        friction: what is added.
        threshold: efforts up to this one are not sent [Nm], (n,).
    """

    def __init__(
        self, max_force: FloatArray, friction: FrictionCompensation, threshold: FloatArray
    ) -> None:
        self._max_force, self._friction = max_force, friction
        self._threshold = threshold
        self._has_threshold = bool(threshold.any())
        self.set_factor(1.0)
        self.friction_part = np.zeros_like(max_force)  # [Nm] of the latest effort

    def set_factor(self, factor: float) -> None:
        """Set the part of the largest effort that may be used, 0 to 1."""
        self.factor = factor
        self._limit = self._max_force * factor
        self._lowest = -self._limit

    def limited(self, effort: FloatArray) -> FloatArray:
        """Limit `effort` [Nm] (n,) in place, and return it."""
        np.maximum(effort, self._lowest, out=effort)
        return np.minimum(effort, self._limit, out=effort)

    def effort(
        self,
        demand: FloatArray,
        position: FloatArray,
        velocity: FloatArray,
        holds: NDArray[np.bool_] | None,
    ) -> FloatArray:
        """Return the effort [Nm] (n,) of `demand` [Nm], which it changes. `holds`: None: none."""
        self.limited(demand)
        part = self._friction.effort(position, velocity, demand)
        if holds is not None and np.count_nonzero(holds):
            part[holds] = 0.0
        self.friction_part = part
        demand += part
        self.limited(demand)
        if self._has_threshold:
            demand[np.abs(demand) <= self._threshold] = 0.0
        return demand


@dataclass(frozen=True, slots=True)
class VelocityCurve:
    """The velocity demanded at a distance from the target: proportional, within limits.

    Args:
        slope: [1/s], (n,).
        lowest, highest: [rad/s], (n,); 0 or less, 0 or more.
    """

    slope: FloatArray
    lowest: FloatArray
    highest: FloatArray

    def with_rows(self, rows: list[int] | slice, other: VelocityCurve) -> VelocityCurve:
        """Return this curve with the joints at `rows` as in `other`."""
        changed = (self.slope.copy(), self.lowest.copy(), self.highest.copy())
        for values, new in zip(changed, (other.slope, other.lowest, other.highest), strict=True):
            values[rows] = new[rows]
        return VelocityCurve(*changed)

    def velocity(self, error: FloatArray) -> FloatArray:
        """Return the velocity [rad/s] (n,) at `error` = target - position [rad], (n,)."""
        return clamp(self.slope * error, self.lowest, self.highest)
