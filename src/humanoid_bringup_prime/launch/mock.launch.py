"""Prime without physics: a stiff joint is at its target at once. For trying programs out."""

from humanoid_bringup.launching.arguments import (
    BLACK_BOX,
    CONTROLLERS_FILE,
    DESCRIPTION,
    ENABLE_MODE_MANAGER,
    FULL_MIT,
    GAMEPAD,
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
    CONTROLLERS_FILE,
    FULL_MIT,
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
    return bring_up("prime", Backend.MOCK, ARGUMENTS)
