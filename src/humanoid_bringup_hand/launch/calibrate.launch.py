"""Hand for `hc calibrate`: all joints are limp."""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.calibrate("hand")
