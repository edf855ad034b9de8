"""Which target position each drive gets: the command, or what it measures itself."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.joints import FloatArray

# Of the joint's velocity limit: how fast a target that followed returns to the command. Slow enough
# that the joint, which overshoots its target's speed, stays under the limit.
RETURN_SPEED: Final = 0.25
LONGEST_STEP: Final = 0.05  # [s] of motion at most in one tick, after a stall of the loop


class TargetRule:
    """No target is ever left behind to jump to. Arrays have shape (n,), in counts.

    Where a drive is to follow, its target is the measured position. When it stops following, the
    target goes from there to the command at RETURN_SPEED, and is the command once it is reached.
    """

    def __init__(self, velocity_limit: FloatArray) -> None:
        """`velocity_limit`: [counts/s]."""
        self._speed = RETURN_SPEED * velocity_limit
        self._target = np.zeros(len(velocity_limit))
        self._returning = np.ones(len(velocity_limit), dtype=bool)

    def update(
        self, command: FloatArray, measured: FloatArray, follow: NDArray[np.bool_], period: float
    ) -> FloatArray:
        """The targets of this tick [counts]; `period` [s] since the last one."""
        np.copyto(self._target, measured, where=follow)
        self._returning |= follow
        step = self._speed * min(period, LONGEST_STEP)
        way = command - self._target
        far = np.abs(way) > step
        np.copyto(way, np.sign(way) * step, where=far & self._returning)
        np.copyto(way, 0.0, where=follow)
        self._target += way
        self._returning &= far | follow
        return self._target
