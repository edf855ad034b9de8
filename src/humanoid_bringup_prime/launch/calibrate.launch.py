"""Prime for its calibration: limp where a CAN motor moves it, and `hc calibrate` does the rest.

What real.launch.py starts, in ZERO_TORQUE and without the eRobs' impedance manager.
"""

import tempfile
from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction

from humanoid_bringup_prime.launching import actions, real_options
from launch import LaunchContext, LaunchDescription

ARGUMENTS = [
    DeclareLaunchArgument(
        "backends",
        default_value="all",
        choices=["all", "ec", "can"],
        description="Real buses; the joints of the other one are mocked and can't be calibrated.",
    ),
    *(
        DeclareLaunchArgument(name, default_value="", description=f"{what}; empty: {default}.")
        for name, what, default in (
            ("hardware_config", "Which drive moves which joint", "the installed file"),
            ("calibration_file", "Prior directions and offsets", "the installed file"),
            ("ethercat_interface", "Network interface of the ring", "that of the hardware file"),
            ("can_interface", "Kind of CAN adapter", "that of the hardware file"),
            ("can_channel", "Where the CAN adapter is", "that of the hardware file"),
        )
    ),
    DeclareLaunchArgument(
        "viewer",
        default_value="false",
        choices=["true", "false"],
        description="Browser viewer on this machine; it shows whether directions are right.",
    ),
]


def bring_up(context: LaunchContext) -> list:
    options = real_options(context.launch_configurations, calibrate=True)
    return actions(options, Path(tempfile.mkdtemp(prefix="humanoid_control_")))


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=bring_up)])
