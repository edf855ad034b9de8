"""The model of Prime, standing still, in rviz and in the browser; without a robot.

All its topics, /tf too, are under /view: a robot on the same domain is not disturbed.
"""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.view("prime")
