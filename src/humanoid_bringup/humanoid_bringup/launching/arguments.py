"""The arguments of the launch files: declared for launch, read for the bring-up.

This module needs ROS 2's launch system: only launch files and `launching` import it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from launch.actions import DeclareLaunchArgument

from humanoid_bringup.options import ALL, read_heartbeats
from humanoid_bringup.robot_package import RobotPackage
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import checked_namespace
from humanoid_control_common.rules.modes import Mode
from launch import LaunchContext

THE_ROBOTS: Final = "the robot's own"
_OF_LAUNCH: Final = frozenset({"launch-prefix", "launch-prefix-filter"})  # `ros2 launch` adds them


@dataclass(frozen=True, slots=True)
class Argument:
    """One launch argument; `name` is that of the option it chooses.

    `read` makes the option's value of its text, and raises ValueError if it can't.
    """

    name: str
    default: str
    description: str
    read: Callable[[str], Any] = str
    choices: tuple[str, ...] | None = None

    def declared(self) -> DeclareLaunchArgument:
        """Return the action that declares it; launch checks the choices."""
        return DeclareLaunchArgument(
            self.name,
            default_value=self.default,
            description=self.description,
            choices=list(self.choices) if self.choices else None,
        )


def _file(text: str) -> Path | None:
    if not text:
        return None
    path = Path(text).resolve()
    if not path.is_file():
        raise ValueError("there is no such file")
    return path


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError("expected a number") from None


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise ValueError("expected a whole number from 0 to 65535")
    return int(text)


def _namespace(text: str) -> str:
    try:
        return checked_namespace(text)
    except ConfigError as error:
        raise ValueError(str(error)) from None


def _heartbeats(text: str) -> dict[str, float]:
    try:
        return read_heartbeats(part.strip() for part in text.split(",") if part.strip())
    except ConfigError as error:
        raise ValueError(str(error)) from None


def file(name: str, what: str, installed: str) -> Argument:
    """Return an argument that names a file; empty is the installed one."""
    return Argument(name, "", f"{what}; empty: {installed}.", _file)


def flag(name: str, default: bool, what: str) -> Argument:
    """Return an argument that is true or false."""
    return Argument(
        name, str(default).lower(), what, lambda text: text == "true", ("true", "false")
    )


def of_hardware_file(name: str, what: str) -> Argument:
    """Return an argument that replaces an entry of the hardware file."""
    return Argument(name, "", f"{what}; empty: that of the hardware file.")


NAMESPACE: Final = Argument(
    "namespace",
    "",
    "Namespace of this robot on a shared ROS domain (left, /left); empty: the root.",
    _namespace,
)
DESCRIPTION: Final = Argument(
    "description",
    "",
    "Links and joints, such as a CAD export: a URDF or xacro file, its folder, or "
    "package://NAME/PATH; empty: the robot's own.",
)
SRDF: Final = file(
    "srdf",
    "SRDF: the pairs of links that need no check for self-collision (`hc srdf` writes one)",
    "the robot's own, and none with description:=",
)
BACKENDS: Final = Argument(
    "backends",
    ALL,
    "The buses present: all, or the name of one; the joints of the others are mocked.",
)
CONTROLLERS_FILE: Final = file("controllers_file", "Controllers and their parameters", THE_ROBOTS)
HARDWARE_CONFIG: Final = file(
    "hardware_config", "Hardware file: the drive of each joint", THE_ROBOTS
)
CALIBRATION_FILE: Final = file("calibration_file", "Directions and homing offsets", THE_ROBOTS)
CAN_BUSES: Final = (
    of_hardware_file("can_interface", "Kind of CAN adapter (socketcan, slcan ...)"),
    of_hardware_file(
        "can_channel",
        "Channel of the CAN adapter (can2, /dev/ttyACM0; with several buses BUS=CHANNEL,...)",
    ),
)
ETHERCAT_BUS: Final = of_hardware_file(
    "ethercat_interface", "Network interface of the EtherCAT ring (enp2s0 ...)"
)
INITIAL_MODE: Final = Argument(
    "initial_mode",
    "",
    "Initial mode; empty: that of initial_controller in the controllers file.",
    lambda text: Mode[text.upper()] if text else None,
    ("", "zero_torque", "damping"),
)
ENABLE_MODE_MANAGER: Final = flag("enable_mode_manager", True, "false: for another mode manager.")
GAMEPAD: Final = (
    flag("enable_gamepad", False, "Accept requests from an Xbox gamepad (needs the package joy)."),
    Argument("joystick", "js0", "The gamepad's device in /dev/input."),
)
HEARTBEATS: Final = Argument(
    "heartbeats",
    "",
    "NAME:SECONDS, ...: stop if one is silent on /emergency_stop/heartbeat for that long.",
    _heartbeats,
)
JOINT_STREAM: Final = flag(
    "joint_stream", False, "true: REMOTE follows a program without ROS, over gRPC."
)
BLACK_BOX: Final = flag("black_box", True, "Write a file of the time before each fault.")
REAL_TIME_FACTOR: Final = Argument(
    "real_time_factor", "1.0", "Simulated seconds per second; 0: as fast as possible.", _number
)
FULL_MIT: Final = flag(
    "full_mit",
    False,
    "true: all joints take all five command interfaces in every tick. "
    "The robot's eRobs take position only.",
)
VIEWER_ADDRESS: Final = (
    Argument("viewer_host", "127.0.0.1", "Address the viewer listens on; 0.0.0.0: all interfaces."),
    Argument("viewer_port", "8080", "Port of the viewer, or the next free one.", _port),
    file("viewer_token_file", "Token that opens the viewer", "a new one, if one is needed"),
)
RVIZ_WANTED: Final = "rviz with model, frames, efforts, mode and safety (needs the package rviz2)."
ROS_TOOLS: Final = (
    flag("robot_state_publisher", True, "Publish /tf (needs the package of that name)."),
    flag("rviz", False, RVIZ_WANTED),
)


def read(arguments: Sequence[Argument], given: Mapping[str, str]) -> dict[str, Any]:
    """Return the options' values by name. Raises ConfigError that names the argument."""
    values = {}
    for argument in arguments:
        try:
            values[argument.name] = argument.read(given[argument.name])
        except ValueError as error:
            raise ConfigError(
                f"{argument.name}:={given[argument.name]}: {error or 'can not be read'}"
            ) from None
    return values


def refuse_unknown(
    robot: RobotPackage, arguments: Sequence[Argument], context: LaunchContext
) -> None:
    """Refuse unknown arguments, which launch itself would ignore.

    Not if another launch file includes this one: it may have arguments of its own.

    Raises ConfigError naming them, and those there are.
    """
    file = Path(getattr(context.locals, "current_launch_file_path", "")).resolve()
    if robot.package not in sys.argv and file not in (
        Path(word).resolve() for word in sys.argv[1:]
    ):
        return
    known = {argument.name for argument in arguments}
    given = [word.partition(":=")[0] for word in context.argv if ":=" in word]
    unknown = [name for name in given if name not in known | _OF_LAUNCH]
    if unknown:
        raise ConfigError(
            f"{file.name} has no argument {', '.join(unknown)}; it has {', '.join(sorted(known))}"
        )
