"""Time scaling: the rate of time on a path falls, stops and recovers; the path is unchanged."""

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.trajectory.trajectory import Trajectory

# Of the acceleration limit: in a tick the path's own acceleration changes, by jerk limit * period.
SHARE: Final = 0.9
ROUNDED: Final = 1.0 + 1e-9  # at constant velocity the braking reaches its share exactly
GENTLER: Final = (1.0, 0.5, 0.25)  # changes that are tried before a tick without a change
NOTHING: Final = 1e-18  # [rad^2]: a step so short has no direction


class TimeScaling:
    """Brakes on a trajectory, or recovers, as hard as the acceleration limits of all joints permit.

    With the path q(s) and the rate r = ds/dt the acceleration is q'' r² + q' dr/dt. In every tick
    dr/dt is the lowest, or highest, value for which no joint exceeds its limit. Where the path
    itself brakes at the limit, the lowest value is 0: the joints stop at the end of the path.

    Args:
        trajectory: within its limits, see `refuse_beyond`.
        time: on the trajectory, at which the joints are [s].
        acceleration: limits [rad/s^2], (n,).
        rate: at which time passes there, 0 to 1.
    """

    def __init__(
        self, trajectory: Trajectory, time: float, acceleration: FloatArray, rate: float = 1.0
    ) -> None:
        self._trajectory = trajectory
        self._limit = SHARE * acceleration
        self._place(time, rate)
        self._step = (time, 0.0)  # [s]: where the latest one began, and its period

    @property
    def stopped(self) -> bool:
        """True if the motion has come to rest."""
        return self.rate == 0.0 or self.ended

    @property
    def ended(self) -> bool:
        """True if the path's end is reached."""
        return self.time >= self._trajectory.duration

    def brake(self, period: float) -> FloatArray:
        """Return the state (3, n) after `period` [s] more, as slow as may be."""
        if self.stopped:
            return self._state
        return self._change(period, min(self._most(period, -1.0), 0.0))

    def recover(self, period: float) -> FloatArray:
        """Return the state (3, n) after `period` [s] more, as fast as may be."""
        return self._change(period, max(self._most(period, 1.0), 0.0))

    def hold_back(self, part: float) -> None:
        """Take note that only `part`, 0 to 1, of the latest step was made."""
        begun, period = self._step
        passed = part * (self.time - begun)
        self._place(begun + passed, min(self.rate, passed / period) if period else 0.0)

    # Inside.

    def _place(self, time: float, rate: float) -> None:
        self.time, self.rate = time, rate
        self._state = self._trajectory.at(time)  # commanded in the latest tick
        if rate < 1.0:
            self._state = self._state * np.array([[1.0], [rate], [0.0]])

    def _change(self, period: float, change: float) -> FloatArray:
        """Change the rate by `change` [1/s], or less; return the state after `period` [s]."""
        before = self._state[1]
        for share in GENTLER:
            time, rate, state = self._after(period, share * change)
            if (np.abs(state[1] - before) <= ROUNDED * self._limit * period).all():
                break
        else:
            time, rate, state = self._after(period, 0.0)
        self._step = (self.time, period)
        self.time, self.rate, self._state = time, rate, state
        return state

    def _after(self, period: float, change: float) -> tuple[float, float, FloatArray]:
        """Return time and rate after `period` if the rate changes by `change` [1/s], and state."""
        end = 1.0 if change > 0.0 else 0.0
        lasts = min(period, (end - self.rate) / change) if change else period
        time = self.time + self.rate * lasts + 0.5 * change * lasts**2 + end * (period - lasts)
        rate = self.rate + change * lasts if lasts == period else end
        state = self._trajectory.at(time).copy()
        state[2] = state[2] * rate**2 + state[1] * change if rate else 0.0
        state[1] *= rate
        return time, rate, state

    def _most(self, period: float, sign: float) -> float:
        """Return the lowest (`sign` -1) or highest (1) change of the rate [1/s] within the limits.

        They must hold where the joints are, and where they will be after `period`.
        """
        times = (self.time, self.time + self.rate * period)
        found = [self._permitted(self._trajectory.at(time), sign) for time in times]
        if sign < 0.0 and found == [None, None]:
            return -2.0 * self.rate / period  # the path pauses: time stops at once
        # A path with zero velocity at this time can begin at any rate, but not end its braking.
        free = (1.0 - self.rate) / period if sign > 0.0 else 0.0
        return sign * min(sign * (free if it is None else it) for it in found)

    def _permitted(self, state: FloatArray, sign: float) -> float | None:
        """Return the same for the path's `state` alone; None where nothing moves."""
        velocity = state[1]
        moves = velocity != 0.0
        if not moves.any():
            return None
        own = state[2] * self.rate**2 * np.sign(velocity)
        room = (self._limit - sign * own)[moves] / np.abs(velocity[moves])
        return sign * float(room.min())


def made(before: FloatArray, wanted: FloatArray, target: FloatArray) -> float:
    """Return the part, 0 to 1, of the step from `before` to `wanted` that leads to `target`.

    All [rad], (n,). A step without length counts as made.
    """
    step = wanted - before
    length = float(step @ step)
    if length < NOTHING:
        return 1.0
    return min(max(float(step @ (target - before)) / length, 0.0), 1.0)
