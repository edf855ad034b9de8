"""The quick answer of the limit stage: nothing of this command needs limiting."""

from __future__ import annotations

from typing import Final

import numpy as np

from humanoid_control_common.joints import FloatArray, JointLimits
from humanoid_control_common.surface import JointCommand, JointState

ROUNDING: Final = 1e-9  # relative; a torque at its bound is no torque beyond it

# Rows of the array of quantities, each of which has its bound in the same row of another array.
# 0-4: the command itself, as in JointCommand.array.
_EFFORT, _STEP, _SPRING, _TORQUE, _BRAKED_VELOCITY, _BRAKED_EFFORT = 2, 5, 6, 7, 8, 9


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
        self._centre = (lower + upper) / 2.0
        zeros = np.zeros(count)
        self._command_centre = np.array([self._centre, zeros, zeros, zeros, zeros])
        half = (upper - lower) / 2.0 * (1.0 - ROUNDING)
        gains = np.full((2, count), np.inf) if limits.gains is None else limits.gains
        rows = [half, limits.velocity, effort, *gains, zeros, effort, effort, half, half]
        self._bounds = np.array(rows)
        self._quantities = np.zeros((len(rows), count))
        self._beyond = np.zeros((len(rows), count), dtype=np.bool_)
        self._command = self._quantities[:_STEP]
        self._torques = self._quantities[_SPRING : _TORQUE + 1]
        self._braked = self._quantities[_BRAKED_VELOCITY:]
        self._by_velocity, self._by_effort = _inverse_gains(limits)
        self._has_brake = bool(self._by_velocity.any())
        self._scratch = np.empty(count)
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
        quantities, torques = self._quantities, self._torques
        spring, torque = torques
        np.subtract(command.array, self._command_centre, self._command)
        np.subtract(command.position, reference, quantities[_STEP])
        np.subtract(command.array[:2], state.array[:2], torques)
        np.multiply(torques, gains, torques)
        np.add(torque, spring, torque)
        np.add(torque, command.effort, torque)
        if self._has_brake:
            self._fill_braked(state, command)
        np.abs(quantities, quantities)
        np.greater(quantities, self._bounds, self._beyond)
        return not np.count_nonzero(self._beyond)

    def _fill_braked(self, state: JointState, command: JointCommand) -> None:
        """Where the joints would be asked to go, were they slowed down by their brakes only."""
        velocity, effort = self._braked
        if not np.count_nonzero(command.array[1:3]):
            self._braked.fill(0.0)
            return
        scratch, by_velocity = self._scratch, self._by_velocity
        np.subtract(state.position, self._centre, scratch)
        np.multiply(command.velocity, by_velocity, velocity)
        np.add(velocity, scratch, velocity)
        if not np.count_nonzero(command.effort):
            effort.fill(0.0)
            return
        np.multiply(command.effort, self._by_effort, effort)
        np.add(effort, scratch, effort)
        np.multiply(state.velocity, by_velocity, scratch)
        np.add(effort, scratch, effort)


def _inverse_gains(limits: JointLimits) -> FloatArray:
    """1 / position gain and 1 / both gains of the soft limits, (2, n); 0 where there is none."""
    inverse = np.zeros((2, limits.lower.shape[0]))
    if limits.soft is not None:
        gains = limits.soft.position_gain, limits.soft.position_gain * limits.soft.velocity_gain
        for row, gain in zip(inverse, gains, strict=True):
            np.divide(1.0, gain, out=row, where=gain > 0.0)
    return inverse
