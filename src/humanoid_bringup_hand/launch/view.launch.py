"""The model of Hand, standing still, in rviz and in the browser; without a robot."""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.view("hand")
