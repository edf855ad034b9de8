"""The drives and joints of the virtual Prime: its own literals, not shared with the stack.

A wrong id in a shared table would be wrong on the robot only. Source: the actuator documents.
"""

from typing import Final

# Ring positions 0 to 9. The eRob of the wrist comes right behind the elbow's.
RING_JOINTS: Final = tuple(
    f"{side}_{joint}"
    for side in ("left", "right")
    for joint in ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow_pitch", "wrist_yaw")
)
# Device ids of the Sito motors (TA40-50) on the CAN bus.
CAN_JOINTS: Final = {
    22: "left_wrist_roll",
    23: "left_wrist_pitch",
    38: "right_wrist_roll",
    39: "right_wrist_pitch",
}
# Order of the plant: ring positions first, so that drive k moves joint k.
JOINTS: Final = (*RING_JOINTS, *CAN_JOINTS.values())
# Inertia of rotor and gear input, reflected to the joint [kg m²]; neither the URDF nor the
# documents state it: assumed, confirm on hardware.
ROTORS: Final = {joint: 0.010 if joint in CAN_JOINTS.values() else 0.040 for joint in JOINTS}
