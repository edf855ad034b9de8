"""The limit stage: limits commands between the controller and `write`."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage

try:
    from humanoid_controller_manager.safety.limit_kernel import LEAST_STIFFNESS, LimitKernel
except ImportError as error:
    raise ImportError(
        "the compiled part of humanoid_controller_manager is missing: run `make build`; if that "
        "finds nothing to build, `make clean build`"
    ) from error

__all__ = ["LEAST_STIFFNESS", "HeldBack", "LimitStage", "Limited"]


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
    """Limits the command of every joint, by a compiled kernel: see limit_kernel.c.

    * Stiffness and damping are at most the joint's largest, where it has these.
    * The target lies within the joint's (soft) range. A joint found outside keeps its place or
      moves inward; it is never snapped to the limit. Near the ends target velocity and effort are
      limited as in `SoftLimits`.
    * Where stiffness acts the target moves no faster than the joint's velocity limit, from the
      measured position on when a mode, or the stiffness, begins.
    * |target - measured| <= effort limit / stiffness, and the less the faster the joint moves to
      that side, see FASTEST_DRIVEN there. The stiffness is the one that acts: where a drive holds
      its mode's, not the commanded one.
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
        self._effort = _row(limits.effort)
        self._realized = np.full(count, np.nan)
        self._is_realized = np.zeros(count, dtype=np.bool_)
        self._any_realized = False
        self._stiffness = np.zeros(count)  # [Nm/rad], see `acting_stiffness`
        self._acts = np.zeros(count, dtype=np.bool_)  # where there was stiffness in the latest tick
        self._before = np.zeros(count)  # [rad] targets of the tick before; measured if none acted
        zeros, soft = np.zeros(count), limits.soft
        largest = np.full((2, count), np.inf) if limits.gains is None else limits.gains
        self._kernel = LimitKernel(
            count,
            lower=_row(limits.target_lower),
            upper=_row(limits.target_upper),
            velocity=_row(limits.velocity),
            effort=self._effort,
            stiffness=_row(largest[0]),
            damping=_row(largest[1]),
            position_gain=_row(zeros if soft is None else soft.position_gain),
            velocity_gain=_row(zeros if soft is None else soft.velocity_gain),
            realized=self._realized,
            before=self._before,
            target=np.zeros(count),
            acts=self._acts,
            counts=self.counts,
        )

    @property
    def joint_limits(self) -> JointLimits:
        """The joints' own limits."""
        return self._limits

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
        """Return the acting stiffness [Nm/rad] (n,): that of the drive, or the commanded one.

        With a commanded stiffness of 0 a drive's target follows its joint: none acts.
        """
        if not self._any_realized:
            return command.stiffness
        np.copyto(self._stiffness, command.stiffness)
        held = self._is_realized & (command.stiffness > 0.0)
        np.copyto(self._stiffness, self._realized, where=held)
        return self._stiffness

    def restart(self) -> None:
        """Begin a mode: its targets move from the measured positions on."""
        self._acts.fill(False)

    def apply(
        self,
        state: JointState,
        command: JointCommand,
        period: float,
        claimed_rows: Sequence[IndexArray] = (),
    ) -> None:
        """Limit `command` in place for the measured `state`, `period` [s] after the last call.

        `claimed_rows`: the joints of each of several controllers that made it.
        """
        self._kernel.limit(state.array, command.array, period)
        stage, self.held_back = self.self_collision, None
        if stage is not None and np.count_nonzero(self._acts):
            self._keep_links_apart(stage, state, command, period, claimed_rows)

    def _keep_links_apart(
        self,
        stage: SelfCollisionStage,
        state: JointState,
        command: JointCommand,
        period: float,
        claimed_rows: Sequence[IndexArray],
    ) -> None:
        # Where no stiffness is commanded, the target of a drive follows its joint.
        acts = self._acts & (command.stiffness > 0.0)
        velocity = np.where(acts, command.velocity, 0.0)
        wanted = np.where(acts, command.position, state.position)
        before = np.where(acts, self._before, state.position)
        allowed = stage.allowed(state, before, wanted, period, claimed_rows)
        part = stage.allowed_velocity(state, velocity)
        if allowed is wanted and part == 1.0:
            return
        self.counts[Limited.SELF_COLLISION] += acts
        np.copyto(command.position, allowed, where=acts)
        np.copyto(command.velocity, part * velocity, where=acts)
        # The target before may be too far from a joint that was pushed since, and the velocity may
        # have been opposed to the spring.
        self._kernel.limit_torque(state.array, command.array)
        if allowed is not wanted:
            self.held_back = HeldBack(command.position.copy(), str(stage.clearance))


def _row(values: FloatArray) -> FloatArray:
    """Return a copy with the layout that the kernel takes."""
    return np.array(values, dtype=np.float64, order="C")
