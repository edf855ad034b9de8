"""The actuators of the virtual Prime, for tests and benchmarks.

The virtual robot itself reads them from the file that it is given.
"""

from typing import Final

from humanoid_control_common.robot.robot_description import share_folder
from humanoid_twin.robot.actuators import load_actuators

FILE: Final = share_folder("humanoid_bringup_prime") / "config/prime_virtual_robot.yaml"
PRIME: Final = load_actuators(FILE)
RING_JOINTS: Final = PRIME.ring_joints
CAN_JOINTS: Final = {row.id: row.joint for row in PRIME.can_rows}  # by CAN id
JOINTS: Final = PRIME.joints
ROTORS: Final = PRIME.rotors
