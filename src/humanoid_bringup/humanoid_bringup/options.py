"""The options of a bring-up, and the processes it consists of."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

from humanoid_bringup.robot_package import RobotPackage, find_robot
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.modes import SAFE_MODES, Mode
from humanoid_control_common.robot_namespace import ROOT

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")  # it becomes the name of a parameter


def read_heartbeats(texts: Iterable[str]) -> dict[str, float]:
    """Return the longest silence [s] by name, from texts like "operator_console:0.5".

    Raises ConfigError that shows the text.
    """
    found = {}
    for text in texts:
        name, _, number = text.partition(":")
        try:
            seconds = float(number)
        except ValueError:
            seconds = 0.0
        if not _NAME.fullmatch(name) or not 0.0 < seconds < float("inf"):
            raise ConfigError(f"heartbeat is '{text}', expected NAME:SECONDS (a_name:0.5)")
        found[name] = seconds
    return found


class Backend(Enum):
    """Source of the joints' motion."""

    REAL = "real"
    TWIN = "twin"  # the virtual robot: it answers on the buses like the real one
    MUJOCO = "mujoco"
    MOCK = "mock"


class Backends(Enum):
    """Present real buses; the joints of an absent one are mocked."""

    ALL = "all"
    EC = "ec"  # EtherCAT
    CAN = "can"


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Options of a bring-up. Paths default to the robot's own files."""

    backend: Backend
    robot: RobotPackage = field(default_factory=find_robot)
    namespace: str = ROOT  # of all names of this robot, such as "/left"
    backends: Backends = Backends.ALL  # of REAL and TWIN
    ethercat_interface: str = ""  # of REAL; empty: that of the hardware file
    can_interface: str = ""  # of REAL; kind of adapter by python-can's names; empty: the same
    can_channel: str = ""  # of REAL; empty: the same
    full_mit: bool = False  # of MUJOCO and MOCK: all joints take all five interfaces in every tick
    real_time_factor: float = 1.0  # simulated seconds per second; 0 = as fast as possible
    initial_mode: Mode = Mode.ZERO_TORQUE
    enable_mode_manager: bool = True
    enable_gamepad: bool = False
    joystick: str = "js0"  # the gamepad's device in /dev/input
    heartbeats: Mapping[str, float] = field(default_factory=dict)  # longest silence [s] by name
    calibrate: bool = False  # of REAL and TWIN: for `hc calibrate`, which sets the gains itself
    viewer: bool = True
    viewer_host: str = "127.0.0.1"
    viewer_port: int = 8080
    viewer_token_file: Path | None = None  # None: a new token where one is needed
    black_box: bool = True  # writes a file of what led to a fault
    robot_state_publisher: bool = False  # /tf, where that package is installed
    rviz: bool = False  # with mode and safety as text, where rviz2 is installed
    controllers_file: Path | None = None
    hardware_config: Path | None = None
    mountings: Path | None = None  # of TWIN: how its drives sit on their joints; None: straight
    calibration_file: Path | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.real_time_factor < float("inf"):
            raise ConfigError(f"real-time factor is {self.real_time_factor:g}, expected 0 or more")
        if self.initial_mode not in SAFE_MODES:
            raise ConfigError(
                f"initial mode is {self.initial_mode.name}, expected ZERO_TORQUE or DAMPING"
            )
        if not self.enable_mode_manager and (self.heartbeats or self.enable_gamepad):
            raise ConfigError("heartbeats and gamepad need the mode manager, which is switched off")
        if self.calibrate and self.initial_mode is not Mode.ZERO_TORQUE:
            raise ConfigError(
                f"initial mode is {self.initial_mode.name}, expected ZERO_TORQUE for a "
                "calibration: the wrists are limp in no other mode"
            )


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
    # The later ones need it until they have ended: where SIGINT is ignored when it is started, it
    # goes on ignoring it, and ends by SIGTERM.
    outlives: bool = False
    namespace: str = ROOT  # of its nodes
