"""The options of a bring-up, and the processes it consists of."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from humanoid_bringup.robot_package import RobotPackage, find_robot
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_control_common.rules.safety import LONGEST_HEARTBEAT

ALL: Final = "all"  # value of `backends`: every bus is present
BACKGROUND: Final = ("nice", "-n", "10")  # before the program of a process in the background
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")  # it becomes the name of a parameter


def read_heartbeats(texts: Iterable[str]) -> dict[str, float]:
    """Return the longest silence [s] by name, from texts like "operator_console:0.5".

    Raises ConfigError that shows the text, and for a name that is given twice.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition(":")
        try:
            seconds = float(number)
        except ValueError:
            seconds = 0.0
        if not _NAME.fullmatch(name) or not 0.0 < seconds <= LONGEST_HEARTBEAT:
            raise ConfigError(
                f"heartbeat is '{text}', expected NAME:SECONDS (a_name:0.5), at most "
                f"{LONGEST_HEARTBEAT:g} s"
            )
        if name in found:
            raise ConfigError(
                f"heartbeat '{name}' is given twice: {found[name]:g} s, {seconds:g} s"
            )
        found[name] = seconds
    return found


def read_channels(text: str, robot: RobotPackage) -> dict[str, str]:
    """Return the channels by CAN bus, from "can2" or "left_can=can2,right_can=can3".

    Raises ConfigError that shows the text and the robot's CAN buses.
    """
    buses = robot.can_buses
    if not text:
        return {}
    if len(buses) == 1 and not text.startswith(f"{buses[0]}="):
        return {buses[0]: text}
    found = {}
    for part in text.split(","):
        bus, _, channel = part.partition("=")
        if bus not in buses or not channel or bus in found:
            raise ConfigError(
                f"CAN channel is '{text}', expected BUS=CHANNEL,...: the CAN buses of "
                f"{robot.title} are {', '.join(buses) or 'none'}"
            )
        found[bus] = channel
    return found


class Backend(Enum):
    """Source of the joints' motion."""

    REAL = "real"
    TWIN = "twin"  # the virtual robot: it answers on the buses like the real one
    MUJOCO = "mujoco"
    MOCK = "mock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a bring-up. Paths default to the robot's own files."""

    backend: Backend
    robot: RobotPackage = field(default_factory=find_robot)
    namespace: str = ROOT  # of all names of this robot, such as "/left"
    backends: str = ALL  # of REAL and TWIN: the name of the one bus present, or ALL
    ethercat_interface: str = ""  # of REAL; empty: that of the hardware file
    can_interface: str = ""  # of REAL; kind of adapters by python-can's names; empty: the same
    can_channel: str = ""  # of REAL; CHANNEL, or BUS=CHANNEL,...; empty: the same
    full_mit: bool = False  # of MUJOCO and MOCK: all joints take all five interfaces in every tick
    real_time_factor: float = 1.0  # simulated seconds per second; 0 = as fast as possible
    initial_mode: Mode | None = None  # None: by `initial_controller` of the controllers file
    enable_mode_manager: bool = True
    enable_gamepad: bool = False
    joystick: str = "js0"  # the gamepad's device in /dev/input
    heartbeats: Mapping[str, float] = field(default_factory=dict)  # longest silence [s] by name
    calibrate: bool = False  # of REAL and TWIN: for `hc calibrate`, which sets the gains itself
    viewer: bool = True
    viewer_host: str = "127.0.0.1"
    viewer_port: int = 8080
    viewer_token_file: Path | None = None  # None: a new token where one is needed
    joint_stream: bool = False  # REMOTE follows programs without ROS, over gRPC
    black_box: bool = True  # writes a file of what led to a fault
    robot_state_publisher: bool = False  # /tf, where that package is installed
    rviz: bool = False  # with mode and safety as text, where rviz2 is installed
    srdf: Path | None = None
    controllers_file: Path | None = None
    hardware_config: Path | None = None
    actuators: Path | None = None  # of TWIN; None: those that the robot's package has
    mountings: Path | None = None  # of TWIN: how its drives sit on their joints; None: straight
    calibration_file: Path | None = None

    def __post_init__(self) -> None:
        self._check_drives()
        self._check_buses()
        if not 0.0 <= self.real_time_factor < float("inf"):
            raise ConfigError(f"real-time factor is {self.real_time_factor:g}, expected 0 or more")
        if self.initial_mode is not None and self.initial_mode not in SAFE_MODES:
            raise ConfigError(
                f"initial mode is {self.initial_mode.name}, expected ZERO_TORQUE or DAMPING"
            )
        if not self.enable_mode_manager and (self.heartbeats or self.enable_gamepad):
            raise ConfigError("heartbeats and gamepad need the mode manager, which is switched off")
        if self.joint_stream and not self.enable_mode_manager:
            raise ConfigError("the joint stream needs the mode manager, which is switched off")
        if self.calibrate and self.initial_mode not in (None, Mode.ZERO_TORQUE):
            raise ConfigError(
                f"initial mode is {self.initial_mode.name}, expected ZERO_TORQUE for a "
                "calibration: the CAN motors are limp in no other mode"
            )

    def _check_drives(self) -> None:
        """Refuse a backend, or a calibration, that the robot's drives do not have."""
        own, title = self.robot.own_buses, self.robot.title
        if self.backend is Backend.TWIN and own:
            raise ConfigError(
                f"there is no virtual robot of {title}: a component of its own serves "
                f"{', '.join(own)}; use mujoco or mock"
            )
        if self.calibrate and self.robot.has_own_buses_only:
            raise ConfigError(
                f"{title} has no calibration file: the hardware component for {', '.join(own)} "
                "converts by itself; leave the calibration out"
            )
        if self.backend in (Backend.REAL, Backend.TWIN) and not self.robot.has_own_buses_only:
            _ = self.robot.drives  # refuses a robot that has none

    def _check_buses(self) -> None:
        known = (ALL, *self.robot.buses)
        if self.backends not in known:
            raise ConfigError(
                f"backends is '{self.backends}'; {self.robot.title} has {', '.join(known)}"
            )
        if self.ethercat_interface and self.robot.ring is None:
            raise ConfigError(
                f"EtherCAT interface is {self.ethercat_interface}, but {self.robot.title} has no "
                "EtherCAT ring: leave it out"
            )
        read_channels(self.can_channel, self.robot)

    def has(self, bus: str | None) -> bool:
        """Return whether the bus of this name is present; None: the robot has no such bus."""
        return bus is not None and self.backends in (ALL, bus)

    @property
    def can_channels(self) -> dict[str, str]:
        """Chosen channel of each CAN bus by name; empty: that of the hardware file."""
        chosen = read_channels(self.can_channel, self.robot)
        return {bus: chosen.get(bus, "") for bus in self.robot.can_buses}


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a bring-up. If a required one ends, the rest is stopped."""

    label: str
    package: str
    executable: str
    parameter_files: tuple[Path, ...] = ()
    arguments: tuple[str, ...] = ()  # the whole command line, in place of files and namespace
    required: bool = True
    ready: str = ""  # the later ones wait until it prints a line that begins so
    # The later ones need it until they have ended. Such a program leaves SIGINT ignored if it is
    # started so, and ends by SIGTERM.
    outlives: bool = False
    namespace: str = ROOT  # of its nodes
    restarts: bool = False  # `hc up` starts it again when it fails
    background: bool = False  # others go first where it competes with them for a processor
