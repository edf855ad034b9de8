"""Prime for its calibration: limp where a CAN motor moves it, and `hc calibrate` does the rest.

What real.launch.py starts, in ZERO_TORQUE and without the eRobs' impedance manager.
"""

from humanoid_bringup.launching.arguments import (
    BACKENDS,
    BLACK_BOX,
    BUSES,
    CALIBRATION_FILE,
    DESCRIPTION,
    HARDWARE_CONFIG,
    NAMESPACE,
    ROS_TOOLS,
    VIEWER_ADDRESS,
    flag,
)
from humanoid_bringup.launching.description import bring_up
from humanoid_bringup.options import Backend
from launch import LaunchDescription

ARGUMENTS = (
    NAMESPACE,
    DESCRIPTION,
    BACKENDS,
    *BUSES,
    HARDWARE_CONFIG,
    CALIBRATION_FILE,
    flag("viewer", False, "Browser viewer; it shows whether directions are right."),
    *VIEWER_ADDRESS,
    BLACK_BOX,
    *ROS_TOOLS,
)


def generate_launch_description() -> LaunchDescription:
    return bring_up("prime", Backend.REAL, ARGUMENTS, calibrate=True)
