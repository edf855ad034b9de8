"""Prime for its calibration: limp where a CAN motor moves it, and `hc calibrate` does the rest.

What real.launch.py starts, in ZERO_TORQUE and without the eRobs' impedance manager.
"""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.calibrate("prime")
