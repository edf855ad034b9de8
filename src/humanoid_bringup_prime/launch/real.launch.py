"""Prime itself: control loop, modes, the eRobs' impedance manager and, if wanted, the viewer."""

import tempfile
from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction

from humanoid_bringup_prime.launching import actions, real_options
from humanoid_control_common.modes import Mode
from launch import LaunchContext, LaunchDescription

ARGUMENTS = [
    DeclareLaunchArgument(
        "backends",
        default_value="all",
        choices=["all", "ec", "can"],
        description="Real buses; the joints of the other one are mocked.",
    ),
    DeclareLaunchArgument(
        "hardware_config",
        default_value="",
        description="Which drive moves which joint; empty: the installed prime_hardware.yaml.",
    ),
    DeclareLaunchArgument(
        "calibration_file",
        default_value="",
        description="Directions and offsets; empty: the installed prime_calibration.yaml.",
    ),
    DeclareLaunchArgument(
        "ethercat_interface",
        default_value="",
        description="Network interface of the ring; empty: that of the hardware file.",
    ),
    DeclareLaunchArgument(
        "can_interface",
        default_value="",
        description="Kind of CAN adapter (socketcan, slcan ...); empty: that of the hardware file.",
    ),
    DeclareLaunchArgument(
        "can_channel",
        default_value="",
        description="Where the CAN adapter is (can2 ...); empty: that of the hardware file.",
    ),
    DeclareLaunchArgument(
        "enable_mode_manager",
        default_value="true",
        choices=["true", "false"],
        description="false: for a mode manager of one's own.",
    ),
    DeclareLaunchArgument(
        "enable_gamepad",
        default_value="false",
        choices=["true", "false"],
        description="Take modes from an Xbox gamepad, too (needs the package joy).",
    ),
    DeclareLaunchArgument(
        "initial_mode",
        default_value="zero_torque",
        choices=["zero_torque", "damping"],
        description="The mode to start in.",
    ),
    DeclareLaunchArgument(
        "viewer",
        default_value="false",
        choices=["true", "false"],
        description="Browser viewer on this machine; better on another one.",
    ),
]


def bring_up(context: LaunchContext) -> list:
    chosen = context.launch_configurations
    options = real_options(
        chosen,
        enable_mode_manager=chosen["enable_mode_manager"] == "true",
        enable_gamepad=chosen["enable_gamepad"] == "true",
        initial_mode=Mode[chosen["initial_mode"].upper()],
    )
    return actions(options, Path(tempfile.mkdtemp(prefix="humanoid_control_")))


def generate_launch_description() -> LaunchDescription:
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=bring_up)])
