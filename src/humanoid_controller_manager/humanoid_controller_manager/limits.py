"""The one limit stage between controller and hardware."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.joints import FloatArray, JointLimits
from humanoid_control_common.surface import JointCommand, JointState


class Limited(IntEnum):
    """Rows of `LimitStage.counts`: which command was limited."""

    POSITION = 0
    VELOCITY = 1
    EFFORT = 2


class LimitStage:
    """Limits target position, target velocity and feed-forward effort of every joint.

    * The target lies within the joint's range, and so close to the measured position that the
      stiffness alone can't ask for more than the effort limit: |q_cmd - q| <= effort / stiffness.
      The stiffness is the one that acts: where a drive holds its mode's, not the commanded one.
    * A joint found outside its range keeps its place or moves inward; it is never snapped to the
      limit.
    * Velocity and effort lie within the joint's limits.

    `counts`, shape (3, n), counts the ticks in which something was limited (rows: `Limited`).
    """

    def __init__(self, limits: JointLimits) -> None:
        count = limits.lower.shape[0]
        self.counts: NDArray[np.int64] = np.zeros((len(Limited), count), dtype=np.int64)
        self._limits = limits
        # Rows: position, velocity, effort, as in JointCommand.array.
        self._low = np.array([limits.lower, -limits.velocity, -limits.effort])
        self._high = np.array([limits.upper, limits.velocity, limits.effort])
        self._low_position, _, self._low_effort = self._low
        self._high_position: FloatArray
        self._high_effort: FloatArray
        self._high_position, _, self._high_effort = self._high
        self._realized = np.full(count, np.nan)
        self._is_realized = np.zeros(count, dtype=np.bool_)
        self._reach = np.empty(count)
        self._bound = np.empty(count)
        self._limited = np.empty((len(Limited), count))
        self._hit = np.empty((len(Limited), count), dtype=np.bool_)

    @property
    def effort_limit(self) -> FloatArray:
        """Largest effort [Nm] of each joint now, shape (n,)."""
        return self._high_effort

    def set_effort_limit(self, effort: FloatArray) -> None:
        """Have `effort` [Nm] (n,) hold from now on, within the joints' own limits.

        A value that is NaN or negative counts as no limit and as 0.
        """
        np.fmin(effort, self._limits.effort, out=self._high_effort)
        np.maximum(self._high_effort, 0.0, out=self._high_effort)
        np.negative(self._high_effort, out=self._low_effort)

    def set_realized_stiffness(self, stiffness: FloatArray) -> None:
        """Have `stiffness` [Nm/rad] (n,) count in place of the command's, where it is not NaN."""
        self._realized[:] = stiffness
        np.isfinite(stiffness, out=self._is_realized)

    def apply(self, state: JointState, command: JointCommand) -> None:
        """Limit `command` in place, given the measured `state`."""
        measured, reach, bound = state.position, self._reach, self._bound
        low, high = self._low_position, self._high_position
        # Without stiffness any distance is allowed: 1e-9 Nm/rad makes it astronomic, not infinite.
        np.maximum(command.stiffness, 1e-9, out=reach)
        np.maximum(self._realized, 1e-9, out=reach, where=self._is_realized)
        np.divide(self._high_effort, reach, out=reach)
        np.minimum(self._limits.lower, measured, out=low)
        np.subtract(measured, reach, out=bound)
        np.maximum(low, bound, out=low)
        np.maximum(self._limits.upper, measured, out=high)
        np.add(measured, reach, out=bound)
        np.minimum(high, bound, out=high)
        target, limited = command.array[:3], self._limited
        np.maximum(target, self._low, out=limited)
        np.minimum(limited, self._high, out=limited)
        np.not_equal(target, limited, out=self._hit)
        if np.count_nonzero(self._hit):
            self.counts += self._hit
            target[:] = limited
