"""Prime for `hc calibrate`: the wrists are limp, the eRobs have their factory gains.

What real.launch.py starts, in ZERO_TORQUE and without the eRobs' impedance manager.
"""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.calibrate("prime")
