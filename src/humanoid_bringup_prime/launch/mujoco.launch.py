"""Prime in MuJoCo: control loop, modes and browser viewer."""

import tempfile
from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction

from humanoid_bringup_prime.launching import actions
from humanoid_bringup_prime.options import Backend, Options
from launch import LaunchContext, LaunchDescription

ARGUMENTS = [
    DeclareLaunchArgument(
        "real_time_factor",
        default_value="1.0",
        description="Simulated seconds per second; 0: as fast as possible.",
    ),
    DeclareLaunchArgument(
        "viewer", default_value="true", choices=["true", "false"], description="Browser viewer."
    ),
]


def bring_up(context: LaunchContext) -> list:
    chosen = context.launch_configurations
    options = Options(
        backend=Backend.MUJOCO,
        real_time_factor=float(chosen["real_time_factor"]),
        viewer=chosen["viewer"] == "true",
    )
    return actions(options, Path(tempfile.mkdtemp(prefix="humanoid_control_")))


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=bring_up)])
