"""The operator's workstation: a running robot in rviz and in the browser.

It starts nothing that commands by itself; the viewer's buttons ask the robot for modes. /tf comes
from the robot's bring-up.
"""

from humanoid_bringup_prime.launch_arguments import RVIZ_WANTED, VIEWER_ADDRESS, flag
from humanoid_bringup_prime.launching import launched
from humanoid_bringup_prime.looking import workstation
from launch import LaunchDescription

ARGUMENTS = (
    flag("viewer", True, "Browser viewer and operator panel."),
    *VIEWER_ADDRESS,
    flag("rviz", True, RVIZ_WANTED),
    flag("simulated", False, "The robot is simulated: rviz takes the time from /clock."),
)


def generate_launch_description() -> LaunchDescription:
    return launched(ARGUMENTS, workstation)
