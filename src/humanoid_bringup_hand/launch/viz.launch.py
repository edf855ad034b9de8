"""The operator's workstation: a running robot in rviz and in the browser."""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.viz("hand")
