"""Hand without physics: a stiff joint is at its target at once. For trying programs out."""

from humanoid_bringup.launching import files
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    return files.mock("hand")
