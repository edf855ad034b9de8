"""A stop along the path: time goes slower and slower, the path stays the same."""

from typing import Final

import numpy as np

from humanoid_control_common.joints import FloatArray
from humanoid_motion.trajectory.trajectory import Trajectory

# Of the acceleration limit: in a tick the path's own acceleration changes, by jerk limit * period.
SHARE: Final = 0.9
ROUNDED: Final = 1.0 + 1e-9  # at constant velocity the braking reaches its share exactly
GENTLER: Final = (1.0, 0.5, 0.25)  # brakings that are tried before a tick without braking


class Braking:
    """Brakes a trajectory as hard as the acceleration limits of all joints permit.

    With the path q(s) and the rate r = ds/dt the acceleration is q'' r² + q' dr/dt. In every tick
    dr/dt is the lowest value for which no joint exceeds its limit. Where the path itself brakes
    with all it has that is 0: the path's own end is the stop then.

    Args:
        trajectory: within its limits, see `refuse_beyond`.
        time: where on it the braking begins [s].
        acceleration: limits [rad/s^2], (n,).
    """

    def __init__(self, trajectory: Trajectory, time: float, acceleration: FloatArray) -> None:
        self._trajectory = trajectory
        self._time = time
        self._rate = 1.0
        self._limit = SHARE * acceleration
        self._state = trajectory.at(time)  # commanded in the latest tick

    @property
    def stopped(self) -> bool:
        """Whether the motion has come to rest."""
        return self._rate == 0.0 or self._time >= self._trajectory.duration

    def step(self, period: float) -> FloatArray:
        """Return the state (3, n) after `period` [s] more."""
        if self.stopped:
            return self._state
        here, ahead = (self._trajectory.at(self._time + it * period) for it in (0.0, self._rate))
        change = min(max(self._lowest(here), self._lowest(ahead)), 0.0)  # of the rate [1/s]
        before = self._state[1]
        for share in GENTLER:
            time, rate, state = self._after(period, share * change)
            if (np.abs(state[1] - before) <= ROUNDED * self._limit * period).all():
                break
        else:
            time, rate, state = self._after(period, 0.0)
        self._time, self._rate, self._state = time, rate, state
        return state

    def _after(self, period: float, change: float) -> tuple[float, float, FloatArray]:
        """Return time and rate after `period` if the rate changes by `change` [1/s], and state."""
        lasts = min(period, self._rate / -change) if change else period
        time = self._time + self._rate * lasts + 0.5 * change * lasts**2
        rate = self._rate + change * lasts if lasts == period else 0.0
        state = self._trajectory.at(time).copy()
        state[2] = state[2] * rate**2 + state[1] * change if rate else 0.0
        state[1] *= rate
        return time, rate, state

    def _lowest(self, state: FloatArray) -> float:
        """Return the lowest change of the rate [1/s] that the limits permit on the path's state."""
        velocity = state[1]
        own = state[2] * self._rate**2 * np.sign(velocity)
        moves = velocity != 0.0
        if not moves.any():
            return 0.0
        return float(((-self._limit - own)[moves] / np.abs(velocity[moves])).max())
