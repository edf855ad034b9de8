"""Hand in MuJoCo: control loop, modes and browser viewer."""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.mujoco("hand")
