"""Bounds of the judgement: literals of the campaign, shared with no program that it judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

Limits = Mapping[str, tuple[float, float]]  # of speed [rad/s] and effort [Nm], by joint
# eRobs of the arms, then the Sito motors of the wrists.
_PRIME: Final[Limits] = {
    "left_shoulder_pitch": (4.0, 30.0),
    "left_shoulder_roll": (4.0, 30.0),
    "left_shoulder_yaw": (4.0, 30.0),
    "left_elbow_pitch": (4.0, 30.0),
    "left_wrist_yaw": (4.0, 30.0),
    "right_shoulder_pitch": (4.0, 30.0),
    "right_shoulder_roll": (4.0, 30.0),
    "right_shoulder_yaw": (4.0, 30.0),
    "right_elbow_pitch": (4.0, 30.0),
    "right_wrist_yaw": (4.0, 30.0),
    "left_wrist_roll": (3.1, 9.0),
    "left_wrist_pitch": (3.1, 9.0),
    "right_wrist_roll": (3.1, 9.0),
    "right_wrist_pitch": (3.1, 9.0),
}
_LITE_ARM: Final[Limits] = {
    "shoulder_pitch": (6.0, 60.0),
    "shoulder_roll": (6.0, 30.0),
    "shoulder_yaw": (6.0, 18.0),
    "elbow_pitch": (6.0, 8.5),
    "wrist_roll": (8.0, 8.5),
    "wrist_pitch": (8.0, 7.0),
    "wrist_yaw": (8.0, 2.7),
}
_LITE: Final[Limits] = {
    f"{side}_{joint}": limits for side in ("left", "right") for joint, limits in _LITE_ARM.items()
}
_HAND: Final[Limits] = {
    f"{side}_finger_{joint}": (10.0, 0.5)
    for side in ("left", "right")
    for joint in ("j3", "j2", "j1")
}
LIMITS: Final[Mapping[str, Limits]] = {"prime": _PRIME, "lite": _LITE, "hand": _HAND}  # by robot
# Damping in DAMPING [Nm s/rad], by robot, and the share of it that a drive must have.
DAMPED: Final[Mapping[str, float]] = {"prime": 6.0, "lite": 4.0, "hand": 0.02}
DAMPED_SHARE: Final = 0.95
# Damping [Nm s/rad] of one LSB of an eRob's 0x2381:01 for a torque constant of 1 Nm/mA and gear 1:
# 0.1063 for 0.132e-3 Nm/mA and gear 50 (actuator documents).
VELOCITY_GAIN: Final = 0.1063 / (0.132e-3 * 50)
# Ratio to the speed limit. Targets move at the limit at most, and joints swing beyond their
# targets. Beyond this ratio the loop reports a runaway joint.
SPEED: Final = 1.5
# Ratio to the effort limit. The loop limits the sum of the MIT law by its own measurements; those
# of the motor are up to a period of the loop newer.
EFFORT: Final = 1.02
# Within one period of the loop a joint may leave its course by this. A torque of 2 Nm moves a wrist
# so far, one of 15 Nm a shoulder.
JUMP: Final = 0.03  # [rad]
JUMP_TIME: Final = 20  # [ms]
# Pull of a following target: a joint that moves with 0.5 rad/s is 40 ms ahead of it.
FOLLOWING: Final = 1.0  # [Nm]
# Torque of a drive in the direction in which its soft joint moved: damping has the other one.
DRIVING: Final = 0.3  # [Nm]
SETTLED: Final = 0.05  # [s] for which a joint must have been soft at the end
STEP: Final = 0.001  # [s] from one row of a recording to the next
