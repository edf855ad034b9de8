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
    * A joint found outside its range keeps its place or moves inward; it is never snapped to the
      limit.
    * Velocity and effort lie within the joint's limits.

    `counts`, shape (3, n), counts the ticks in which something was limited (rows: `Limited`).
    """

    def __init__(self, limits: JointLimits) -> None:
        count = limits.lower.shape[0]
        self.counts: NDArray[np.int64] = np.zeros((len(Limited), count), dtype=np.int64)
        self.effort_limit: FloatArray = limits.effort.copy()
        self._limits = limits
        # Rows: position, velocity, effort, as in JointCommand.array.
        self._low = np.array([limits.lower, -limits.velocity, -limits.effort])
        self._high = np.array([limits.upper, limits.velocity, limits.effort])
        self._reach = np.empty(count)
        self._bound = np.empty(count)
        self._limited = np.empty((len(Limited), count))
        self._hit = np.empty((len(Limited), count), dtype=np.bool_)

    def apply(self, state: JointState, command: JointCommand) -> None:
        """Limit `command` in place, given the measured `state` and `effort_limit` [Nm]."""
        low, high, measured = self._low, self._high, state.position
        # A component's limit that is NaN or negative must not become part of a command.
        effort = np.fmin(self.effort_limit, self._limits.effort, out=high[2])
        np.maximum(effort, 0.0, out=effort)
        np.negative(effort, out=low[2])
        # Without stiffness any distance is allowed: 1e-9 Nm/rad makes it astronomic, not infinite.
        np.maximum(command.stiffness, 1e-9, out=self._reach)
        np.divide(effort, self._reach, out=self._reach)
        np.minimum(self._limits.lower, measured, out=low[0])
        np.maximum(low[0], np.subtract(measured, self._reach, out=self._bound), out=low[0])
        np.maximum(self._limits.upper, measured, out=high[0])
        np.minimum(high[0], np.add(measured, self._reach, out=self._bound), out=high[0])
        target = command.array[:3]
        limited = np.minimum(np.maximum(target, low, out=self._limited), high, out=self._limited)
        np.not_equal(target, limited, out=self._hit)
        if np.count_nonzero(self._hit):
            self.counts += self._hit
            target[:] = limited
