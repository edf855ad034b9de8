"""The joints of Prime and Lite, in kinematic order."""

from typing import Final

SIDES: Final = ("left", "right")
ARM: Final = (
    "shoulder_pitch",
    "shoulder_roll",
    "shoulder_yaw",
    "elbow_pitch",
    "wrist_roll",
    "wrist_pitch",
    "wrist_yaw",
)
ALL_JOINTS: Final = tuple(f"{side}_{joint}" for side in SIDES for joint in ARM)
