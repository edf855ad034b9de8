"""The real bring-up on both CAN buses, against the virtual robot. It needs no rights."""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.twin("hand")
