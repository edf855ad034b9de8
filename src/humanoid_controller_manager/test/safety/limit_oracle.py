"""The limits of a command in numpy: the oracle of the kernel, which computes the same bits.

Written for reading, one array operation after another. See LimitStage for the rules.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray, JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.safety.limit_stage import Limited

STEP_ROUNDING: Final = 1.001
LEAST_STIFFNESS: Final = 1e-9  # [Nm/rad]
ROUNDING: Final = 1e-9
FASTEST_DRIVEN: Final = 1.5


class LimitOracle:
    """A limit stage without self-collision. `counts` (8, n) as in LimitStage."""

    def __init__(self, limits: JointLimits) -> None:
        count = limits.lower.shape[0]
        self.counts: NDArray[np.int64] = np.zeros((len(Limited), count), dtype=np.int64)
        self.effort: FloatArray = limits.effort.copy()  # [Nm] now
        self.realized: FloatArray = np.full(count, np.nan)  # [Nm/rad]
        self._limits = limits
        self._target = np.zeros(count)  # [rad] of the tick before
        self._acts = np.zeros(count, dtype=np.bool_)

    def restart(self) -> None:
        """Begin a mode."""
        self._acts[:] = False

    def apply(self, state: JointState, command: JointCommand, period: float) -> None:
        """Limit `command` in place, `period` [s] after the last call."""
        gains = self._limit_gains(command)
        acted, self._acts = self._acts, gains[0] > 0.0
        before = np.where(self._acts & acted, self._target, state.position)
        step = np.where(self._acts, self._limits.velocity * (period * STEP_ROUNDING), np.inf)
        self._limit_target(state, command, gains, before, step)
        self._limit_velocity_and_effort(state, command)
        self._limit_torque(state, command, gains)
        self._target = command.position.copy()

    def _limit_gains(self, command: JointCommand) -> FloatArray:
        """Limit the commanded gains; return those that act then, (2, n)."""
        if self._limits.gains is not None:
            self.counts[Limited.GAINS] += (command.array[3:] > self._limits.gains).any(axis=0)
            command.array[3:] = _smaller(command.array[3:], self._limits.gains)
        own = np.isfinite(self.realized)
        return np.array(
            [np.where(own, self.realized, command.stiffness), np.where(own, 0.0, command.damping)]
        )

    def _limit_target(
        self,
        state: JointState,
        command: JointCommand,
        gains: FloatArray,
        before: FloatArray,
        step: FloatArray,
    ) -> None:
        measured, limits = state.position, self._limits
        low = _smaller(limits.target_lower, measured)
        high = _larger(limits.target_upper, measured)
        in_range = _between(command.position, low, high)
        stepped = _between(in_range, before - step, before + step)
        kept = _between(stepped, low, high)
        below, above = self._reach(state, gains)
        near = _between(kept, measured - below, measured + above)
        self.counts[Limited.POSITION] += in_range != command.position
        self.counts[Limited.STEP] += stepped != in_range
        self.counts[Limited.SPRING] += near != kept
        command.position[:] = near

    def _reach(self, state: JointState, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the largest distances of a target below and above its joint [rad], (n,) each."""
        velocity = self._limits.velocity
        part = state.velocity / (FASTEST_DRIVEN * velocity)
        slow = _smaller(gains[1] * velocity, self.effort)
        stiffness = _larger(gains[0], np.full_like(velocity, LEAST_STIFFNESS))
        one = np.ones_like(velocity)
        below = _larger(self.effort * _smaller(1.0 + part, one), slow) / stiffness
        above = _larger(self.effort * _smaller(1.0 - part, one), slow) / stiffness
        return below, above

    def _limit_velocity_and_effort(self, state: JointState, command: JointCommand) -> None:
        limits, soft, zero = self._limits, self._limits.soft, np.zeros_like(state.position)
        down, up = np.full_like(zero, np.inf), np.full_like(zero, np.inf)
        least, most = down, up
        if soft is not None:
            brakes = soft.position_gain > 0.0
            room_down = soft.position_gain * _larger(state.position - soft.lower, zero)
            room_up = soft.position_gain * _larger(soft.upper - state.position, zero)
            down, up = np.where(brakes, room_down, np.inf), np.where(brakes, room_up, np.inf)
            brakes = soft.velocity_gain * soft.position_gain > 0.0
            least = np.where(brakes, soft.velocity_gain * (down + state.velocity), np.inf)
            most = np.where(brakes, soft.velocity_gain * (up - state.velocity), np.inf)
        slowest, fastest = -_smaller(limits.velocity, down), _smaller(limits.velocity, up)
        weakest = -_smaller(self.effort, _larger(least, zero))
        strongest = _smaller(self.effort, _larger(most, zero))
        velocity = _between(command.velocity, slowest, fastest)
        effort = _between(command.effort, weakest, strongest)
        self.counts[Limited.VELOCITY] += velocity != command.velocity
        self.counts[Limited.EFFORT] += effort != command.effort
        command.array[1:3] = velocity, effort

    def _limit_torque(self, state: JointState, command: JointCommand, gains: FloatArray) -> None:
        stiffness, damping = gains
        away = command.position - state.position
        pushed = np.where(np.isfinite(self.realized), 0.0, command.effort)
        drive = stiffness * away + damping * command.velocity + pushed
        braking = -damping * state.velocity
        low = _smaller(-self.effort - braking, np.zeros_like(drive))
        high = _larger(self.effort - braking, np.zeros_like(drive))
        rounding = ROUNDING * self.effort
        beyond = (drive > high + rounding) | (drive < low - rounding)
        scale = np.ones_like(drive)
        np.divide(_between(drive, low, high), drive, out=scale, where=beyond)
        np.copyto(command.position, state.position + scale * away, where=beyond)
        command.array[1:3] *= scale
        self.counts[Limited.TORQUE] += beyond


# np.maximum and np.minimum leave open which of 0.0 and -0.0 they return.
def _larger(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.where((a >= b) | np.isnan(a), a, b)


def _smaller(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.where((a <= b) | np.isnan(a), a, b)


def _between(value: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return _smaller(_larger(value, low), high)
