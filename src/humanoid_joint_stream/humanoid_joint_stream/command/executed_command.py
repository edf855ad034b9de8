"""The executed command: the command of one update at any time."""

from dataclasses import dataclass

import numpy as np

from humanoid_control_common.clamping import clamp
from humanoid_control_common.robot.joints import FloatArray


@dataclass(frozen=True, slots=True)
class ExecutedCommand:
    """One command. Times in [ns] of the robot's clock."""

    rows: FloatArray  # (5, n), rows as in JointCommand
    received: int
    end: int  # it is not executed from then on
    reference: int  # origin of the extrapolation
    extrapolation: int  # >= 0, time for which the position moves on with the velocity

    def elapsed(self, now: int) -> float:
        """Return for how long [s] the position has moved on with the velocity.

        It begins at `reference` and lasts `extrapolation`, to `end` at most.
        """
        longest = min(self.extrapolation, self.end - self.reference)
        return max(0, min(now - self.reference, longest)) * 1e-9

    def position(self, now: int) -> FloatArray:
        """Return the desired position [rad], (n,), before any limit."""
        found: FloatArray = self.rows[0] + self.rows[1] * self.elapsed(now)
        return found

    def is_over(self, now: int) -> bool:
        """Return whether it is executed no longer."""
        return now >= self.end


def clipped(values: FloatArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, bool]:
    """Return `values` within their limits, and whether any was beyond them. All (n,)."""
    found = clamp(values, lower, upper)
    return found, bool(np.count_nonzero(found != values))
