"""Hand for its calibration: limp, and `hc calibrate` does the rest."""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.calibrate("hand")
