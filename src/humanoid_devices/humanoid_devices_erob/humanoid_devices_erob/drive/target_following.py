"""The target position of each drive: the command, or its own measured position."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.clamping import clamp
from humanoid_control_common.robot.joints import FloatArray
from humanoid_devices_erob.drive.joint_frame import ENCODER

# Share of the joint's velocity limit at which a target that followed returns to the command. It is
# low because the joint overshoots its target's speed.
RETURN_SPEED: Final = 0.25
# Times the way of a joint at its velocity limit in a tick: a command this near begins at the joint.
BEGINS: Final = 1.01
# Share of the joint's velocity limit at which a target follows if its speed may drive the joint. A
# stiff joint yields no faster; a damped one falls faster than its damping allows by that much.
CREEP_SPEED: Final = 0.02
# [rad] that a creeping target stays behind at most: beyond it a drive faults and drops the arm
# (0x8500 at 2.5 rad, 0x8400 a little earlier; both assumed, confirm on hardware).
LEASH: Final = 1.5
# [rad] A joint this close to its target is hardly pulled when it becomes stiff: at 0.2 rad/s with
# factory gains (19.4 rad/s per radian).
ARRIVED: Final = 0.01
# A jump of the target acts two periods later: a drive takes it at the next SYNC0 and arrives a
# period after that.
SETTLING: Final = 3  # updates
LONGEST_STEP: Final = 0.05  # [s] of motion at most in one tick, after a stall of the loop


class TargetRule:
    """Keeps targets so close to the joints that none jumps. Arrays have shape (n,), in counts.

    Where a drive follows and its target is free to move, the target is the measured position. When
    it stops following, the target moves from there to the command at RETURN_SPEED, and then equals
    the command. A command that begins at the joint, and goes away from it no faster than the joint
    may, is the target at once: the loop expects the torque of its own targets. Where the drive may
    feed the target's speed forward, a following target would drive the joint: it creeps after the
    joint at CREEP_SPEED, at most LEASH behind, until it is free.
    """

    def __init__(self, velocity_limit: FloatArray) -> None:
        """`velocity_limit`: [counts/s]."""
        self._limit = velocity_limit
        self._speed = RETURN_SPEED * velocity_limit
        self._creep = CREEP_SPEED * velocity_limit
        self._leash = LEASH * ENCODER.counts_per_radian
        self._arrived = ARRIVED * ENCODER.counts_per_radian
        self._behind = np.zeros(len(velocity_limit))  # of a target that crept, at `_far`
        self._far = np.full(len(velocity_limit), SETTLING)  # updates since it was not near
        self._creeping = np.zeros(len(velocity_limit), dtype=bool)
        self._target = np.zeros(len(velocity_limit))
        self._returning = np.ones(len(velocity_limit), dtype=bool)
        self._followed = np.ones(len(velocity_limit), dtype=bool)  # freely, in the latest update

    def left_behind(self, slave: int) -> float:
        """Return how far [rad] a creeping target is from its joint; 0 if the joint has arrived."""
        if self._far[slave] >= SETTLING:
            return 0.0
        return float(self._behind[slave]) / ENCODER.counts_per_radian

    def update(
        self,
        command: FloatArray,
        measured: FloatArray,
        follow: NDArray[np.bool_],
        free: NDArray[np.bool_],
        period: float,
    ) -> FloatArray:
        """Return the targets of this tick [counts], `period` [s] after the last one.

        `free`: where the speed of a moving target is known not to drive the joint.
        """
        time = min(period, LONGEST_STEP)
        np.copyto(self._target, measured, where=(follow | self._creeping) & free)
        self._creeping = follow & ~free
        if self._creeping.any():
            crept = clamp(
                measured, self._target - self._creep * time, self._target + self._creep * time
            )
            leashed = clamp(crept, measured - self._leash, measured + self._leash)
            np.copyto(self._target, leashed, where=self._creeping)
        begins = np.abs(command - measured) <= BEGINS * self._limit * time
        self._returning &= ~(self._followed & begins)
        self._returning |= follow
        self._followed = follow & free
        behind = np.abs(measured - self._target)
        left = self._creeping & (behind > self._arrived)
        np.copyto(self._behind, behind, where=left)
        self._far = np.where(left, 0, np.minimum(self._far + 1, SETTLING))
        step = self._speed * time
        motion = command - self._target
        far = np.abs(motion) > step
        np.copyto(motion, np.sign(motion) * step, where=far & self._returning)
        np.copyto(motion, 0.0, where=follow)
        self._target += motion
        self._returning &= far | follow
        return self._target
