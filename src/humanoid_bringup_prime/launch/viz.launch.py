"""The operator's workstation: a running robot in rviz and in the browser.

It starts nothing that commands by itself; the viewer's buttons ask the robot for modes. /tf comes
from the robot's bring-up.
"""

from humanoid_bringup.launching.arguments import NAMESPACE, RVIZ_WANTED, VIEWER_ADDRESS, flag
from humanoid_bringup.launching.description import launched
from humanoid_bringup.viewers.view_plan import workstation
from launch import LaunchDescription

ARGUMENTS = (
    NAMESPACE,
    flag("viewer", True, "Browser viewer and operator panel."),
    *VIEWER_ADDRESS,
    flag("rviz", True, RVIZ_WANTED),
    flag("simulated", False, "The robot is simulated: rviz takes the time from /clock."),
)


def generate_launch_description() -> LaunchDescription:
    return launched("prime", ARGUMENTS, workstation)
