"""The one limit stage between controller and hardware."""

from __future__ import annotations

from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.joints import FloatArray, JointLimits
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.soft_ends import effort_room, velocity_room
from humanoid_controller_manager.within_limits import ROUNDING, WithinLimits

STEP_ROUNDING: Final = 1.001  # a target may move at the velocity limit itself
LEAST_STIFFNESS: Final = 1e-9  # [Nm/rad] makes the distance allowed astronomic, not infinite


class Limited(IntEnum):
    """Rows of `LimitStage.counts`: what was limited."""

    POSITION = 0  # the target lay outside the joint's range
    VELOCITY = 1  # the target velocity
    EFFORT = 2  # the feed-forward effort
    STEP = 3  # the target moved faster than the joint may
    SPRING = 4  # the target was so far away that the stiffness alone asked for too much effort
    TORQUE = 5  # stiffness, damping and feed-forward together asked for too much
    GAINS = 6  # stiffness or damping


class LimitStage:
    """Limits what is asked of every joint.

    * Stiffness and damping are at most the joint's largest, where it has such.
    * The target lies within the joint's (soft) range. A joint found outside keeps its place or
      moves inward; it is never snapped to the limit. Near the ends target velocity and effort are
      limited as `SoftLimits` says.
    * Where stiffness acts the target moves no faster than the joint's velocity limit, from the
      measured position on when a mode, or the stiffness, begins.
    * |target - measured| <= effort limit / stiffness. The stiffness is the one that acts: where a
      drive holds its mode's, not the commanded one.
    * Velocity and effort lie within the joint's limits.
    * stiffness, damping and feed-forward together stay within the effort limit, as far as that is
      to be had without weakening the damping of measured motion: only what drives the joint is
      scaled down, the target towards the measured position.

    `counts`, shape (7, n), counts the ticks in which something was limited (rows: `Limited`).
    """

    def __init__(self, limits: JointLimits) -> None:
        count = limits.lower.shape[0]
        self.counts: NDArray[np.int64] = np.zeros((len(Limited), count), dtype=np.int64)
        self._limits = limits
        self._effort = limits.effort.copy()
        self._within = WithinLimits(limits, self._effort)
        self._realized = np.full(count, np.nan)
        self._is_realized = np.zeros(count, dtype=np.bool_)
        self._any_realized = False
        self._gains = np.zeros((2, count))
        self._reference = np.zeros(count)  # [rad] where the targets were in the tick before
        self._acts = np.zeros(count, dtype=np.bool_)  # where there is stiffness
        self._acted = np.zeros(count, dtype=np.bool_)  # the same in the tick before
        self._stiffness = b""  # of the tick before; empty: a mode begins
        self._period = 0.0
        self._step = np.zeros(count)  # [rad] a target may move within the period

    @property
    def effort_limit(self) -> FloatArray:
        """Largest effort [Nm] of each joint now, shape (n,)."""
        return self._effort

    def set_effort_limit(self, effort: FloatArray) -> None:
        """Have `effort` [Nm] (n,) hold from now on, within the joints' own limits.

        A value that is NaN or negative counts as no limit and as 0.
        """
        np.fmin(effort, self._limits.effort, out=self._effort)
        np.maximum(self._effort, 0.0, out=self._effort)
        self._within.efforts_changed()

    def set_realized_stiffness(self, stiffness: FloatArray) -> None:
        """Have `stiffness` [Nm/rad] (n,) count in place of the command's, where it is not NaN."""
        self._realized[:] = stiffness
        np.isfinite(stiffness, out=self._is_realized)
        self._any_realized = bool(self._is_realized.any())

    def acting_stiffness(self, command: JointCommand) -> FloatArray:
        """Stiffness [Nm/rad] (n,) that acts under `command`: of the drive, or the commanded one."""
        gains: FloatArray = self._acting_gains(command)[0]
        return gains

    def restart(self) -> None:
        """A mode begins: its targets move from where the joints are measured."""
        self._stiffness = b""
        self._acted.fill(False)

    def apply(self, state: JointState, command: JointCommand, period: float) -> None:
        """Limit `command` in place, given the measured `state`, `period` [s] after the last."""
        gains = self._acting_gains(command)
        if period != self._period:
            self._period = period
            np.multiply(self._limits.velocity, period * STEP_ROUNDING, out=self._step)
            self._within.set_step(self._step)
        begins = self._stiffness_begins(gains[0])
        if begins or not self._within(state, command, gains, self._reference):
            gains = self._limit_gains(command)
            self._limit_target(state, command, gains[0])
            self._limit_torque(state, command, gains)
            np.copyto(self._acted, self._acts)
        self._reference[:] = command.position

    # Inside. What follows is done only when there may be something to limit.

    def _stiffness_begins(self, stiffness: FloatArray) -> bool:
        """Whether a mode begins, or stiffness acts on other joints than in the tick before."""
        content = stiffness.tobytes()
        if content == self._stiffness:
            return False
        begins = not self._stiffness
        self._stiffness = content
        np.greater(stiffness, 0.0, out=self._acts)
        return begins or bool(np.count_nonzero(self._acts != self._acted))

    def _acting_gains(self, command: JointCommand) -> FloatArray:
        """Stiffness and damping that act, (2, n). A drive with gains of its own damps by itself."""
        if not self._any_realized:
            return command.array[3:]
        gains = self._gains
        gains[:] = command.array[3:]
        np.copyto(gains[0], self._realized, where=self._is_realized)
        np.copyto(gains[1], 0.0, where=self._is_realized)
        return gains

    def _limit_gains(self, command: JointCommand) -> FloatArray:
        """Limit the commanded gains; those that act then, (2, n)."""
        largest = self._limits.gains
        if largest is not None:
            self.counts[Limited.GAINS] += (command.array[3:] > largest).any(axis=0)
            np.minimum(command.array[3:], largest, out=command.array[3:])
        return self._acting_gains(command)

    def _limit_target(
        self, state: JointState, command: JointCommand, stiffness: FloatArray
    ) -> None:
        measured, limits = state.position, self._limits
        low = np.minimum(limits.target_lower, measured)
        high = np.maximum(limits.target_upper, measured)
        wanted = command.position
        in_range = _between(wanted, low, high)
        reference = np.where(self._acts & self._acted, self._reference, measured)
        step = np.where(self._acts, self._step, np.inf)
        stepped = _between(in_range, reference - step, reference + step)
        reach = self._effort / np.maximum(stiffness, LEAST_STIFFNESS)
        # The measured position lies in this range, too: both can be had.
        kept = _between(stepped, low, high)
        near = _between(kept, measured - reach, measured + reach)
        velocity = _between(command.velocity, *velocity_room(state, limits))
        effort = _between(command.effort, *effort_room(state, limits, self._effort))
        self.counts[Limited.POSITION] += in_range != wanted
        self.counts[Limited.STEP] += stepped != in_range
        self.counts[Limited.SPRING] += near != kept
        self.counts[Limited.VELOCITY] += velocity != command.velocity
        self.counts[Limited.EFFORT] += effort != command.effort
        command.array[:3] = near, velocity, effort

    def _limit_torque(self, state: JointState, command: JointCommand, gains: FloatArray) -> None:
        stiffness, damping = gains
        away = command.position - state.position
        pushed = np.where(self._is_realized, 0.0, command.effort)
        drive = stiffness * away + damping * command.velocity + pushed
        braking = -damping * state.velocity
        # 0 is always allowed: what drives the joint is never asked to work against the braking.
        low = np.minimum(-self._effort - braking, 0.0)
        high = np.maximum(self._effort - braking, 0.0)
        rounding = ROUNDING * self._effort
        beyond = (drive > high + rounding) | (drive < low - rounding)
        if not np.count_nonzero(beyond):
            return
        scale = np.ones_like(drive)
        np.divide(_between(drive, low, high), drive, out=scale, where=beyond)
        np.copyto(command.position, state.position + scale * away, where=beyond)
        command.array[1:3] *= scale
        self.counts[Limited.TORQUE] += beyond


def _between(value: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(value, low), high)
