"""Bounds of the judgement: literals of the campaign's own, shared with no program it judges."""

from __future__ import annotations

from typing import Final

# [rad/s], [Nm]. eRobs of the arms, then the Sito motors of the wrists.
LIMITS: Final[dict[str, tuple[float, float]]] = {
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
# Of these limits. Targets move at the speed limit at most, and joints swing beyond their targets;
# beyond this the loop itself takes a joint for a runaway.
SPEED: Final = 1.5
# The loop bounds the sum of the law by its own measurements; those of the motor are up to a period
# of the loop newer.
EFFORT: Final = 1.02
# Within one period of the loop a joint may leave the course it was on by so much: a torque of 2 Nm
# does that to a wrist, one of 15 Nm to a shoulder.
JUMP: Final = 0.03  # [rad]
JUMP_TIME: Final = 20  # [ms]
# Pull of a following target: a joint that moves with 0.5 rad/s is 40 ms ahead of it.
FOLLOWING: Final = 1.0  # [Nm]
SETTLED: Final = 0.05  # [s] a joint must have been soft at the end
STEP: Final = 0.001  # [s] from one row of a recording to the next
