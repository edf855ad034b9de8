"""The model of Prime, standing still, in rviz and in the browser; without a robot.

All its topics, /tf too, are under /view: a robot on the same domain is not disturbed.
"""

from humanoid_bringup.launching.arguments import (
    DESCRIPTION,
    HARDWARE_CONFIG,
    RVIZ_WANTED,
    VIEWER_ADDRESS,
    flag,
)
from humanoid_bringup.launching.description import launched
from humanoid_bringup.viewers.view_plan import model
from launch import LaunchDescription

ARGUMENTS = (
    DESCRIPTION,
    HARDWARE_CONFIG,
    flag("viewer", True, "Browser viewer."),
    *VIEWER_ADDRESS,
    flag("rviz", True, RVIZ_WANTED),
)


def generate_launch_description() -> LaunchDescription:
    return launched("prime", ARGUMENTS, model)
