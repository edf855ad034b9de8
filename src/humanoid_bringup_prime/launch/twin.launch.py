"""The real bring-up on both buses, against the virtual robot. Needs root, or the rights of a shell.

What is started is what real.launch.py starts, and before it the robot that answers on the wires.
"""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.twin("prime")
