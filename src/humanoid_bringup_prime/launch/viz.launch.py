"""The operator's workstation: a running robot in rviz and in the browser.

It starts nothing that commands by itself; the viewer's buttons ask the robot for modes. /tf comes
from the robot's bring-up.
"""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.viz("prime")
