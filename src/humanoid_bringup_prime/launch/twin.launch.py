"""The real bring-up on both buses, against the virtual robot. Needs root, or the rights of a shell.

What is started is what real.launch.py starts, and before it the robot that answers on the wires.
"""

from humanoid_bringup.launching.arguments import (
    BACKENDS,
    BLACK_BOX,
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
    file,
    flag,
)
from humanoid_bringup.launching.description import bring_up
from humanoid_bringup.options import Backend
from launch import LaunchDescription

ARGUMENTS = (
    NAMESPACE,
    DESCRIPTION,
    BACKENDS,
    HARDWARE_CONFIG,
    CALIBRATION_FILE,
    CONTROLLERS_FILE,
    file("mountings", "How the virtual actuators sit on their joints", "straight"),
    INITIAL_MODE,
    ENABLE_MODE_MANAGER,
    *GAMEPAD,
    HEARTBEATS,
    flag("viewer", True, "Browser viewer."),
    *VIEWER_ADDRESS,
    BLACK_BOX,
    *ROS_TOOLS,
)


def generate_launch_description() -> LaunchDescription:
    return bring_up("prime", Backend.TWIN, ARGUMENTS)
