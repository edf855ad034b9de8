"""The first look at a command: which of its quantities may be beyond a bound."""

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState

ROUNDING: Final = 1e-9  # relative; a torque at its bound is no torque beyond it
LEAST_EFFORT: Final = 1e-9  # [Nm] keeps a speed finite
# Times its velocity limit: no spring drives a joint that is so fast, beyond what its damping takes
# at the limit. A soft arm swings after its target, which moves at the limit itself.
FASTEST_DRIVEN: Final = 1.5

# What may be beyond a bound, as bits. TORQUE: of stiffness, damping and feed-forward together.
TARGET, VELOCITY_OR_EFFORT, TORQUE = 1, 2, 4
EVERYTHING: Final = TARGET | VELOCITY_OR_EFFORT | TORQUE

# Rows of the array of quantities, each of which has its bound in the same row of another array.
# 0-4: the command itself, as in JointCommand.array.
_EFFORT, _STEP, _SPRING, _TORQUE, _BRAKED_VELOCITY, _BRAKED_EFFORT, _DRIVEN = 2, 5, 6, 7, 8, 9, 10
_SUSPECTS: Final = (  # by row
    *(TARGET, VELOCITY_OR_EFFORT, VELOCITY_OR_EFFORT),
    *(EVERYTHING, EVERYTHING),  # gains: all other limits are reckoned with them
    *(TARGET, TARGET, TORQUE, VELOCITY_OR_EFFORT, VELOCITY_OR_EFFORT, TARGET),
)


class LimitPrecheck:
    """Compares all limited quantities with their bounds at once, without allocation.

    The limit stage looks closely at what may be beyond its bound, and at nothing else.

    Args:
        effort: [Nm] (n,). Its owner changes it and then calls `efforts_changed`.
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
        rows = [half, limits.velocity, effort, *gains, zeros, effort, effort, half, half, zeros]
        self._bounds = np.array(rows)
        self._bounds[_DRIVEN] = FASTEST_DRIVEN * limits.velocity * (1.0 + ROUNDING)
        self._speed = np.zeros(count)  # [rad/s per Nm] that a spring's torque counts as
        self._quantities = np.zeros((len(rows), count))
        self._beyond = np.zeros((len(rows), count), dtype=np.bool_)
        self._command = self._quantities[:_STEP]
        self._torques = self._quantities[_SPRING : _TORQUE + 1]
        self._braked = self._quantities[_BRAKED_VELOCITY:_DRIVEN]
        self._by_velocity, self._by_effort = _inverse_gains(limits)
        self._has_brake = bool(self._by_velocity.any())
        self._scratch = np.empty(count)
        self.efforts_changed()

    def set_step(self, step: FloatArray) -> None:
        """Set by how much a target may move in one tick: `step` [rad] (n,)."""
        self._bounds[_STEP] = step

    def efforts_changed(self) -> None:
        """Adopt the present effort limits."""
        self._bounds[_EFFORT] = self._effort
        self._bounds[_SPRING : _TORQUE + 1] = self._effort * (1.0 + ROUNDING)
        np.divide(self._bounds[_DRIVEN], np.maximum(self._effort, LEAST_EFFORT), out=self._speed)

    def __call__(
        self, state: JointState, command: JointCommand, gains: FloatArray, reference: FloatArray
    ) -> int:
        """Return what may be beyond a bound, of TARGET, VELOCITY_OR_EFFORT and TORQUE; 0: nothing.

        `gains` (2, n): acting stiffness and damping. `reference` [rad] (n,): the targets of the
        tick before.
        """
        quantities, torques = self._quantities, self._torques
        spring, torque = torques
        np.subtract(command.array, self._command_centre, self._command)
        np.subtract(command.position, reference, quantities[_STEP])
        np.subtract(command.array[:2], state.array[:2], torques)
        np.multiply(torques, gains, torques)
        driven = quantities[_DRIVEN]
        np.multiply(spring, self._speed, driven)
        np.add(driven, state.velocity, driven)
        np.add(torque, spring, torque)
        np.add(torque, command.effort, torque)
        if self._has_brake:
            self._fill_braked(state, command)
        np.abs(quantities, quantities)
        np.greater(quantities, self._bounds, self._beyond)
        if not np.count_nonzero(self._beyond):
            return 0
        suspects = 0
        for row in np.flatnonzero(self._beyond.any(axis=1)).tolist():
            suspects |= _SUSPECTS[row]
        return suspects

    def _fill_braked(self, state: JointState, command: JointCommand) -> None:
        """Fill the rows bounded by the soft range: position plus command by the brake gains."""
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
    """Return 1 / position gain and 1 / (both gains) of the soft limits, (2, n); 0 where none."""
    inverse = np.zeros((2, limits.lower.shape[0]))
    if limits.soft is not None:
        gains = limits.soft.position_gain, limits.soft.position_gain * limits.soft.velocity_gain
        for row, gain in zip(inverse, gains, strict=True):
            np.divide(1.0, gain, out=row, where=gain > 0.0)
    return inverse
