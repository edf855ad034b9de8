"""A trajectory: polynomials in time, one after another, for a fixed set of joints."""

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.trajectory.polynomials import extremes, positions, values

STRAIGHT: Final = 3e-4  # [rad] between `poses` and the motion itself


@dataclass(frozen=True, slots=True, eq=False)
class Trajectory:
    """A motion of n joints, which ends at rest.

    Args:
        knots: times [s] at which the m segments begin, and of the end; ascending from 0, (m + 1,).
        coefficients: see `polynomials`, (m, 6, n).
    """

    knots: tuple[float, ...]
    coefficients: FloatArray
    end: FloatArray = field(init=False)  # the state after the end, (3, n): no velocity

    def __post_init__(self) -> None:
        end = values(self.coefficients[-1], self.knots[-1] - self.knots[-2])
        end[1:] = 0.0
        end.flags.writeable = self.coefficients.flags.writeable = False
        object.__setattr__(self, "end", end)

    @property
    def duration(self) -> float:
        """Time from beginning to end [s]."""
        return self.knots[-1]

    def at(self, time: float) -> FloatArray:
        """Return the state (3, n) at `time` [s]: before the beginning the first, then the last."""
        time = max(time, 0.0)
        if time >= self.knots[-1]:
            return self.end
        segment = bisect_right(self.knots, time) - 1
        return values(self.coefficients[segment], time - self.knots[segment])

    def poses(self) -> tuple[FloatArray, FloatArray]:
        """Return times [s], (k,), and positions [rad], (k, n), that represent the whole motion.

        Between two poses no joint is more than STRAIGHT away from the straight line. The number of
        poses does not depend on the speed of the motion.
        """
        duration = np.diff(self.knots)
        if not self.duration:
            return np.zeros(1), self.end[:1]
        lowest, highest = extremes(self.coefficients, duration)
        bend = np.maximum(-lowest[2], highest[2]).max(axis=1)  # [rad/s^2] of each segment
        counts = np.maximum(np.ceil(duration * np.sqrt(bend / (8 * STRAIGHT))), 1).astype(int)
        segments = np.repeat(np.arange(len(counts)), counts)
        number = np.arange(len(segments)) - np.repeat(np.cumsum(counts) - counts, counts)
        since = duration[segments] / counts[segments] * number
        times = np.append(np.array(self.knots)[segments] + since, self.duration)
        found = positions(self.coefficients[segments], since)
        return times, np.concatenate([found, self.end[:1]])


def hold(position: FloatArray) -> Trajectory:
    """Return the trajectory that stays at `position` [rad], (n,): it has ended when it begins."""
    coefficients = np.zeros((1, 6, len(position)))
    coefficients[0, 0] = position
    return Trajectory((0.0, 0.0), coefficients)
