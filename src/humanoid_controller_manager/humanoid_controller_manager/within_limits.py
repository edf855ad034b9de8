"""The quick answer of the limit stage: nothing of this command needs limiting."""

from __future__ import annotations

from typing import Final

import numpy as np

from humanoid_control_common.joints import FloatArray, JointLimits
from humanoid_control_common.surface import JointCommand, JointState

ROUNDING: Final = 1e-9  # relative; a torque at its bound is no torque beyond it
CALM: Final = 0.5  # of the velocity limit; what moves faster is looked at more closely

# Rows of the array of quantities, each of which has its bound in the same row of another array.
# 0-4: the command itself, as in JointCommand.array; 8, 9: the first two rows of JointState.array.
_EFFORT, _STEP, _SPRING, _TORQUE, _MEASURED = 2, 5, 6, 7, 8


class WithinLimits:
    """Compares everything that is limited with its bound in one go, without allocation.

    True means that nothing is beyond its bound; False that the limit stage has to look closely.

    Args:
        effort: [Nm] (n,), kept up to date by its owner, who calls `efforts_changed`.
    """

    def __init__(self, limits: JointLimits, effort: FloatArray) -> None:
        count = effort.shape[0]
        lower, upper = limits.target_lower, limits.target_upper
        self._effort = effort
        centre, half = (lower + upper) / 2.0, (upper - lower) / 2.0 * (1.0 - ROUNDING)
        zeros = np.zeros(count)
        self._command_centre = np.array([centre, zeros, zeros, zeros, zeros])
        self._measured_centre = self._command_centre[:2]
        self._brakes = Brakes(limits, centre, half)
        gains = np.full((2, count), np.inf) if limits.gains is None else limits.gains
        rows = [half, limits.velocity, effort, *gains, zeros, effort, effort]
        self._bounds = np.array([*rows, self._brakes.far_from_ends, CALM * limits.velocity])
        self._quantities = np.zeros(self._bounds.shape)
        self._beyond = np.zeros(self._bounds.shape, dtype=np.bool_)
        self._command = self._quantities[:_STEP]
        self._torques = self._quantities[_SPRING : _TORQUE + 1]
        self._measured = self._quantities[_MEASURED:]
        self.efforts_changed()

    def set_step(self, step: FloatArray) -> None:
        """Have a target move by `step` [rad] (n,) at most from now on."""
        self._bounds[_STEP] = step

    def efforts_changed(self) -> None:
        """Take the effort limits of now."""
        self._bounds[_EFFORT] = self._effort
        self._bounds[_SPRING : _TORQUE + 1] = self._effort * (1.0 + ROUNDING)

    def __call__(
        self, state: JointState, command: JointCommand, gains: FloatArray, reference: FloatArray
    ) -> bool:
        """Whether nothing is beyond its bound.

        `gains` (2, n) are the stiffness and damping that act, `reference` [rad] (n,) is where the
        targets were in the tick before.
        """
        quantities, torques, measured = self._quantities, self._torques, state.array[:2]
        spring, torque = torques
        np.subtract(command.array, self._command_centre, self._command)
        np.subtract(command.position, reference, quantities[_STEP])
        np.subtract(command.array[:2], measured, torques)
        np.multiply(torques, gains, torques)
        np.add(torque, spring, torque)
        np.add(torque, command.effort, torque)
        np.subtract(measured, self._measured_centre, self._measured)
        np.abs(quantities, quantities)
        np.greater(quantities, self._bounds, self._beyond)
        if not np.count_nonzero(self._beyond):
            return True
        return not np.count_nonzero(self._beyond[:_MEASURED]) and self._brakes(state, command)


class Brakes:
    """Whether soft ends leave a command as it is.

    Args:
        centre: of the range of targets [rad] (n,).
        half: half of its width [rad] (n,).

    `far_from_ends` [rad] (n,) is the distance from the centre within which they do, as long as the
    command is within the joint's limits and the joint moves calmly; negative: nowhere for certain.
    """

    def __init__(self, limits: JointLimits, centre: FloatArray, half: FloatArray) -> None:
        count = centre.shape[0]
        self._centre, self._half = centre, half
        self._inverse_gains = _inverse_gains(limits)
        self._where = np.zeros((2, count))  # slowed down from the velocity, by the effort
        self._scratch = np.empty(count)
        by_velocity, by_effort = self._inverse_gains * [limits.velocity, limits.effort]
        needed = np.maximum(by_velocity, CALM * by_velocity + by_effort)
        self.far_from_ends = np.where(needed > 0.0, half - needed, np.inf)

    def __call__(self, state: JointState, command: JointCommand) -> bool:
        """Whether no joint would leave its range, were it slowed down by its brakes only."""
        if not np.count_nonzero(command.array[1:3]):
            return True
        velocity, effort = self._where
        scratch, inverse = self._scratch, self._inverse_gains
        np.subtract(state.position, self._centre, scratch)
        np.multiply(command.velocity, inverse[0], velocity)
        np.add(velocity, scratch, velocity)
        effort.fill(0.0)
        if np.count_nonzero(command.effort):
            np.multiply(command.effort, inverse[1], effort)
            np.add(effort, scratch, effort)
            np.multiply(state.velocity, inverse[0], scratch)
            np.add(effort, scratch, effort)
        np.abs(self._where, self._where)
        return not np.count_nonzero(self._where > self._half)


def _inverse_gains(limits: JointLimits) -> FloatArray:
    """1 / position gain and 1 / both gains of the soft limits, (2, n); 0 where there is none."""
    inverse = np.zeros((2, limits.lower.shape[0]))
    if limits.soft is not None:
        gains = limits.soft.position_gain, limits.soft.position_gain * limits.soft.velocity_gain
        for row, gain in zip(inverse, gains, strict=True):
            np.divide(1.0, gain, out=row, where=gain > 0.0)
    return inverse
