"""The limit stage: limits commands between the controller and `write`."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.safety.limit_precheck import (
    EVERYTHING,
    FASTEST_DRIVEN,
    ROUNDING,
    TARGET,
    VELOCITY_OR_EFFORT,
    LimitPrecheck,
)
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage

STEP_ROUNDING: Final = 1.001  # a target may move at the velocity limit itself
LEAST_STIFFNESS: Final = 1e-9  # [Nm/rad] keeps the allowed distance finite


class Limited(IntEnum):
    """Rows of `LimitStage.counts`: what was limited."""

    POSITION = 0  # the target lay outside the joint's range
    VELOCITY = 1  # the target velocity
    EFFORT = 2  # the feed-forward effort
    STEP = 3  # the target moved faster than the joint may
    SPRING = 4  # stiffness times distance of the target exceeded the effort limit
    TORQUE = 5  # stiffness, damping and feed-forward together exceeded it
    GAINS = 6  # stiffness or damping
    SELF_COLLISION = 7  # the target would bring two links too near to each other


class HeldBack(NamedTuple):
    """Targets that the limit stage slowed down, so that links stay apart."""

    target: FloatArray  # [rad] where they lead instead, (n,)
    why: str  # the links and their distance


class LimitStage:
    """Limits the command of every joint.

    * Stiffness and damping are at most the joint's largest, where it has these.
    * The target lies within the joint's (soft) range. A joint found outside keeps its place or
      moves inward; it is never snapped to the limit. Near the ends target velocity and effort are
      limited as in `SoftLimits`.
    * Where stiffness acts the target moves no faster than the joint's velocity limit, from the
      measured position on when a mode, or the stiffness, begins.
    * |target - measured| <= effort limit / stiffness, and the less the faster the joint moves to
      that side, see FASTEST_DRIVEN. The stiffness is the one that acts: where a drive holds its
      mode's, not the commanded one.
    * Velocity and effort lie within the joint's limits.
    * Stiffness, damping and feed-forward together stay within the effort limit, without weakening
      the damping of measured motion: only the parts that drive the joint are scaled down, the
      target towards the measured position.
    * With a SelfCollisionStage, targets of stiff joints bring no two links too near to each other.

    `counts`, shape (8, n), counts the ticks in which something was limited (rows: `Limited`).
    """

    def __init__(
        self, limits: JointLimits, self_collision: SelfCollisionStage | None = None
    ) -> None:
        self.self_collision = self_collision
        self.held_back: HeldBack | None = None  # by the latest `apply`
        count = limits.lower.shape[0]
        self.counts: NDArray[np.int64] = np.zeros((len(Limited), count), dtype=np.int64)
        self._limits = limits
        self._effort = limits.effort.copy()
        self._precheck = LimitPrecheck(limits, self._effort)
        self._realized = np.full(count, np.nan)
        self._is_realized = np.zeros(count, dtype=np.bool_)
        self._any_realized = False
        self._gains = np.zeros((2, count))
        self._reference = np.zeros(count)  # [rad] the targets of the tick before
        self._acts = np.zeros(count, dtype=np.bool_)  # where there is stiffness
        self._acted = np.zeros(count, dtype=np.bool_)  # the same in the tick before
        self._stiffness = b""  # of the tick before; empty: a mode begins
        self._period = 0.0
        self._step = np.zeros(count)  # [rad] a target may move within the period

    @property
    def effort_limit(self) -> FloatArray:
        """The largest effort [Nm] of each joint now, shape (n,)."""
        return self._effort

    def set_effort_limit(self, effort: FloatArray) -> None:
        """Set the effort limit [Nm] (n,), within the joints' own limits.

        NaN counts as no limit, a negative value as 0.
        """
        np.fmin(effort, self._limits.effort, out=self._effort)
        np.maximum(self._effort, 0.0, out=self._effort)
        self._precheck.efforts_changed()

    def set_realized_stiffness(self, stiffness: FloatArray) -> None:
        """Set the stiffness [Nm/rad] (n,) that acts; NaN where the commanded one does."""
        self._realized[:] = stiffness
        np.isfinite(stiffness, out=self._is_realized)
        self._any_realized = bool(self._is_realized.any())

    @property
    def realized_stiffness(self) -> FloatArray:
        """The stiffness [Nm/rad] (n,) that drives hold; NaN where the commanded one acts."""
        return self._realized

    def acting_stiffness(self, command: JointCommand) -> FloatArray:
        """Return the acting stiffness [Nm/rad] (n,): that of the drive, or the commanded one."""
        gains: FloatArray = self._acting_gains(command)[0]
        return gains

    def restart(self) -> None:
        """Begin a mode: its targets move from the measured positions on."""
        self._stiffness = b""
        self._acted.fill(False)

    def apply(
        self,
        state: JointState,
        command: JointCommand,
        period: float,
        shares: Sequence[IndexArray] = (),
    ) -> None:
        """Limit `command` in place for the measured `state`, `period` [s] after the last call.

        `shares`: the joints of each of several controllers that made it.
        """
        gains = self._acting_gains(command)
        if period != self._period:
            self._period = period
            np.multiply(self._limits.velocity, period * STEP_ROUNDING, out=self._step)
            self._precheck.set_step(self._step)
        begins = self._stiffness_begins(gains[0])
        stage, self.held_back = self.self_collision, None
        before = None if stage is None else self._targets_before(state)
        suspects = EVERYTHING
        if not begins:
            suspects = self._precheck(state, command, gains, self._reference)
        if suspects:
            gains = self._limit_gains(command)
            if suspects & TARGET:
                self._limit_target(state, command, gains)
            if suspects & VELOCITY_OR_EFFORT:
                self._limit_velocity_and_effort(state, command)
            self._limit_torque(state, command, gains)
            np.copyto(self._acted, self._acts)
        if stage is not None and before is not None and np.count_nonzero(self._acts):
            self._keep_links_apart(stage, state, command, before, period, shares)
        self._reference[:] = command.position

    # Inside.

    def _keep_links_apart(
        self,
        stage: SelfCollisionStage,
        state: JointState,
        command: JointCommand,
        before: FloatArray,
        period: float,
        shares: Sequence[IndexArray],
    ) -> None:
        acts, velocity = self._acts, np.where(self._acts, command.velocity, 0.0)
        wanted = np.where(acts, command.position, state.position)
        allowed = stage.allowed(state, before, wanted, period, shares)
        part = stage.allowed_velocity(state, velocity)
        if allowed is wanted and part == 1.0:
            return
        self.counts[Limited.SELF_COLLISION] += acts
        np.copyto(command.position, allowed, where=acts)
        np.copyto(command.velocity, part * velocity, where=acts)
        # The target before may be too far from a joint that was pushed since, and the velocity may
        # have been opposed to the spring.
        self._limit_torque(state, command, self._acting_gains(command))
        if allowed is not wanted:
            self.held_back = HeldBack(command.position.copy(), str(stage.clearance))

    def _targets_before(self, state: JointState) -> FloatArray:
        """Return the targets of the tick before [rad] (n,), measured where none acted."""
        return np.where(self._acts & self._acted, self._reference, state.position)

    def _stiffness_begins(self, stiffness: FloatArray) -> bool:
        """Return whether a mode begins, or stiffness acts on other joints than in the last tick."""
        content = stiffness.tobytes()
        if content == self._stiffness:
            return False
        begins = not self._stiffness
        self._stiffness = content
        np.greater(stiffness, 0.0, out=self._acts)
        return begins or bool(np.count_nonzero(self._acts != self._acted))

    def _acting_gains(self, command: JointCommand) -> FloatArray:
        """Return acting stiffness and damping, (2, n). Drives with own gains damp by themselves."""
        if not self._any_realized:
            return command.array[3:]
        gains = self._gains
        gains[:] = command.array[3:]
        np.copyto(gains[0], self._realized, where=self._is_realized)
        np.copyto(gains[1], 0.0, where=self._is_realized)
        return gains

    def _limit_gains(self, command: JointCommand) -> FloatArray:
        """Limit the commanded gains; return those that act then, (2, n)."""
        largest = self._limits.gains
        if largest is not None:
            self.counts[Limited.GAINS] += (command.array[3:] > largest).any(axis=0)
            np.minimum(command.array[3:], largest, out=command.array[3:])
        return self._acting_gains(command)

    def _limit_target(self, state: JointState, command: JointCommand, gains: FloatArray) -> None:
        measured, limits = state.position, self._limits
        low = np.minimum(limits.target_lower, measured)
        high = np.maximum(limits.target_upper, measured)
        wanted = command.position
        in_range = _between(wanted, low, high)
        reference = self._targets_before(state)
        step = np.where(self._acts, self._step, np.inf)
        stepped = _between(in_range, reference - step, reference + step)
        below, above = self._reach(state, gains)
        # The measured position lies in this range, too: both limits can be kept.
        kept = _between(stepped, low, high)
        near = _between(kept, measured - below, measured + above)
        self.counts[Limited.POSITION] += in_range != wanted
        self.counts[Limited.STEP] += stepped != in_range
        self.counts[Limited.SPRING] += near != kept
        command.position[:] = near

    def _limit_velocity_and_effort(self, state: JointState, command: JointCommand) -> None:
        velocity = _between(command.velocity, *velocity_room(state, self._limits))
        effort = _between(command.effort, *effort_room(state, self._limits, self._effort))
        self.counts[Limited.VELOCITY] += velocity != command.velocity
        self.counts[Limited.EFFORT] += effort != command.effort
        command.array[1:3] = velocity, effort

    def _reach(self, state: JointState, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far a target may be below and above its joint [rad], (n,) each."""
        velocity, effort = self._limits.velocity, self._effort
        part = state.velocity / (FASTEST_DRIVEN * velocity)
        slow = np.minimum(gains[1] * velocity, effort)  # takes a joint to its velocity limit
        stiffness = np.maximum(gains[0], LEAST_STIFFNESS)
        below = np.maximum(effort * np.minimum(1.0 + part, 1.0), slow) / stiffness
        above = np.maximum(effort * np.minimum(1.0 - part, 1.0), slow) / stiffness
        return below, above

    def _limit_torque(self, state: JointState, command: JointCommand, gains: FloatArray) -> None:
        stiffness, damping = gains
        away = command.position - state.position
        pushed = command.effort
        if self._any_realized:
            pushed = np.where(self._is_realized, 0.0, pushed)
        drive = stiffness * away + damping * command.velocity + pushed
        braking = -damping * state.velocity
        if not np.count_nonzero(np.abs(drive + braking) > self._effort):
            return
        # 0 is always allowed: the drive never has to work against the braking.
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


def velocity_room(state: JointState, limits: JointLimits) -> tuple[FloatArray, FloatArray]:
    """Return the least and largest target velocity [rad/s] of every joint, (n,) each.

    Towards an end at most position_gain times the distance to it, beyond it zero; always within
    the joint's velocity limit.
    """
    limit = limits.velocity
    if limits.soft is None:
        return -limit, limit
    down, up = _slowed(state, limits)
    return np.maximum(-limit, -down), np.minimum(limit, up)


def effort_room(
    state: JointState, limits: JointLimits, limit: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return the least and largest feed-forward effort [Nm] of every joint, (n,), within `limit`.

    Towards an end at most velocity_gain times the difference of allowed and measured speed.
    """
    soft = limits.soft
    if soft is None:
        return -limit, limit
    down, up = _slowed(state, limits)
    gain, brakes = soft.velocity_gain, soft.velocity_gain * soft.position_gain > 0.0
    low = np.where(brakes, gain * np.where(brakes, down + state.velocity, 0.0), np.inf)
    high = np.where(brakes, gain * np.where(brakes, up - state.velocity, 0.0), np.inf)
    return np.maximum(-limit, -np.maximum(low, 0.0)), np.minimum(limit, np.maximum(high, 0.0))


def _slowed(state: JointState, limits: JointLimits) -> tuple[FloatArray, FloatArray]:
    """Return the largest speeds [rad/s] towards the lower and upper ends; infinite without gain."""
    soft = limits.soft
    assert soft is not None
    brakes = soft.position_gain > 0.0
    down = soft.position_gain * np.maximum(state.position - soft.lower, 0.0)
    up = soft.position_gain * np.maximum(soft.upper - state.position, 0.0)
    return np.where(brakes, down, np.inf), np.where(brakes, up, np.inf)


def _between(value: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    return np.minimum(np.maximum(value, low), high)
