"""Which target position each drive gets: the command, or what it measures itself."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.joints import FloatArray
from humanoid_devices_erob.joint_frame import ENCODER

# Of the joint's velocity limit: how fast a target that followed returns to the command. Slow enough
# that the joint, which overshoots its target's speed, stays under the limit.
RETURN_SPEED: Final = 0.25
# Of the joint's velocity limit: how fast a target follows whose own speed may drive the joint. A
# stiff joint gives way no faster, a damped one falls by so much faster than its damping allows.
CREEP_SPEED: Final = 0.02
# [rad] that a creeping target stays behind at most: beyond it a drive faults and lets go of the
# arm (0x8500 at 2.5 rad, 0x8400 a little earlier; both assumed, confirm on hardware).
LEASH: Final = 1.5
# [rad] A joint so close to its target is not pulled when it becomes stiff: with factory gains
# (19.4 rad/s per radian) at 0.2 rad/s.
ARRIVED: Final = 0.01
# A target that jumps is where it was for two periods more: a drive takes it at the next SYNC0, and
# is there a period later.
SETTLING: Final = 3  # updates
LONGEST_STEP: Final = 0.05  # [s] of motion at most in one tick, after a stall of the loop


class TargetRule:
    """No target is ever left behind to jump to. Arrays have shape (n,), in counts.

    Where a drive is to follow and its target is free to move, the target is the measured position.
    When it stops following, the target goes from there to the command at RETURN_SPEED, and is the
    command once it is reached. Where the drive may feed the target's speed forward, a target that
    follows the joint would drive it: such a target creeps after it at CREEP_SPEED, at most LEASH
    behind, until it is free.
    """

    def __init__(self, velocity_limit: FloatArray) -> None:
        """`velocity_limit`: [counts/s]."""
        self._speed = RETURN_SPEED * velocity_limit
        self._creep = CREEP_SPEED * velocity_limit
        self._leash = LEASH * ENCODER.counts_per_radian
        self._arrived = ARRIVED * ENCODER.counts_per_radian
        self._behind = np.zeros(len(velocity_limit))  # of a target that crept, at `_far`
        self._far = np.full(len(velocity_limit), SETTLING)  # updates since it was not near
        self._creeping = np.zeros(len(velocity_limit), dtype=bool)
        self._target = np.zeros(len(velocity_limit))
        self._returning = np.ones(len(velocity_limit), dtype=bool)

    def left_behind(self, slave: int) -> float:
        """How far [rad] a target that creeps is from its joint; 0 if the drive is there."""
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
        """The targets of this tick [counts]; `period` [s] since the last one.

        `free`: where a target that moves is known not to drive the joint by its speed.
        """
        time = min(period, LONGEST_STEP)
        np.copyto(self._target, measured, where=(follow | self._creeping) & free)
        self._creeping = follow & ~free
        if self._creeping.any():
            crept = np.clip(
                measured, self._target - self._creep * time, self._target + self._creep * time
            )
            leashed = np.clip(crept, measured - self._leash, measured + self._leash)
            np.copyto(self._target, leashed, where=self._creeping)
        self._returning |= follow
        behind = np.abs(measured - self._target)
        left = self._creeping & (behind > self._arrived)
        np.copyto(self._behind, behind, where=left)
        self._far = np.where(left, 0, np.minimum(self._far + 1, SETTLING))
        step = self._speed * time
        way = command - self._target
        far = np.abs(way) > step
        np.copyto(way, np.sign(way) * step, where=far & self._returning)
        np.copyto(way, 0.0, where=follow)
        self._target += way
        self._returning &= far | follow
        return self._target
