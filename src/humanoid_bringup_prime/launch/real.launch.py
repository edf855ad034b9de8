"""Prime itself: control loop, modes, the eRobs' impedance manager and, if wanted, the viewer."""

from humanoid_bringup.launching.arguments import (
    BACKENDS,
    BLACK_BOX,
    BUSES,
    CALIBRATION_FILE,
    CONTROLLERS_FILE,
    DESCRIPTION,
    ENABLE_MODE_MANAGER,
    GAMEPAD,
    HARDWARE_CONFIG,
    HEARTBEATS,
    INITIAL_MODE,
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
    CONTROLLERS_FILE,
    INITIAL_MODE,
    ENABLE_MODE_MANAGER,
    *GAMEPAD,
    HEARTBEATS,
    flag("viewer", False, "Browser viewer on this machine; better on another one."),
    *VIEWER_ADDRESS,
    BLACK_BOX,
    *ROS_TOOLS,
)


def generate_launch_description() -> LaunchDescription:
    return bring_up("prime", Backend.REAL, ARGUMENTS)
