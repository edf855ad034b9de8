"""Hand itself: control loop, modes and, if wanted, the viewer."""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.real("hand")
