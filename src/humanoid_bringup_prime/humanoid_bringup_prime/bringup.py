"""Says once which processes run with which parameters: launch files and `hc up` read it here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

import yaml
from ament_index_python.packages import get_package_share_directory

from humanoid_bringup_prime.impedance.wiring import NODE, STATE_TOPIC, manager_parameters
from humanoid_control_common.config import Document, StrictModel, read_yaml, validate
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.modes import SAFE_MODES, Mode
from prime_description.description import expand

SIMULATION_UPDATE_RATE: Final = 200  # [Hz]; five physics steps of 1 ms each
INITIAL_CONTROLLERS: Final = {
    Mode.ZERO_TORQUE: "zero_torque_controller",
    Mode.DAMPING: "damping_controller",
}


class Backend(Enum):
    """What moves the joints."""

    REAL = "real"
    MUJOCO = "mujoco"
    MOCK = "mock"


class Backends(Enum):
    """Which of the real buses there are; the joints of the other one are mocked."""

    ALL = "all"
    EC = "ec"  # EtherCAT
    CAN = "can"


class _ManagerSection(StrictModel, extra="ignore"):
    update_rate: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be chosen at a bring-up. Paths default to the files this package installs."""

    backend: Backend
    backends: Backends = Backends.ALL  # of REAL
    ethercat_interface: str = ""  # of REAL; empty: that of the hardware file
    real_time_factor: float = 1.0  # simulated seconds per second; 0 = as fast as possible
    initial_mode: Mode = Mode.ZERO_TORQUE
    enable_mode_manager: bool = True
    viewer: bool = True
    viewer_host: str = "127.0.0.1"
    viewer_port: int = 8080
    controllers_file: Path | None = None
    hardware_config: Path | None = None
    calibration_file: Path | None = None

    def __post_init__(self) -> None:
        if not 0.0 <= self.real_time_factor < float("inf"):
            raise ConfigError(f"real-time factor is {self.real_time_factor:g}, expected 0 or more")
        if self.initial_mode not in SAFE_MODES:
            raise ConfigError(
                f"initial mode is {self.initial_mode.name}, expected ZERO_TORQUE or DAMPING"
            )


@dataclass(frozen=True, slots=True)
class Process:
    """One process of a bring-up. If a required one ends, the rest is stopped."""

    label: str
    package: str
    executable: str
    parameter_files: tuple[Path, ...]
    required: bool = True


def plan(options: Options, folder: Path) -> list[Process]:
    """The processes of a bring-up, in the order they are started.

    The parameters made here are written into `folder`, which must outlive the processes.

    Raises ConfigError for whatever is wrong in files and options.
    """
    _check_backends(options)
    controllers = options.controllers_file or _share("config/prime_controllers.yaml")
    document = read_yaml(controllers)
    update_rate = _update_rate(options, document)
    urdf = expand(_description_arguments(options, update_rate))
    processes = [_control(options, folder, controllers, (update_rate, urdf))]
    if options.backend is Backend.REAL:
        own = manager_parameters(urdf, update_rate, _section(document, NODE))
        files = (controllers, _write(folder, NODE, own))
        # Without it the robot goes to DAMPING, where it must not be left without control as well.
        manager = Process("impedance", "humanoid_bringup_prime", NODE, files, required=False)
        processes.append(manager)
    if options.viewer:
        processes.append(_viewer(options, folder))
    return processes


def notes(options: Options) -> list[str]:
    """What an operator should know of a bring-up before it starts."""
    if options.backend is not Backend.REAL or options.backends is Backends.ALL:
        return []
    return ["backends:=ec: the four wrists on the CAN bus are mocked, only the ten eRobs are real"]


def _check_backends(options: Options) -> None:
    if options.backend is Backend.REAL and options.backends is not Backends.EC:
        raise ConfigError(
            f"backends:={options.backends.value} needs the CAN side (Sito), which is not part of "
            "this version; backends:=ec brings up the EtherCAT side and mocks the wrists"
        )


def _share(relative: str) -> Path:
    return Path(get_package_share_directory("humanoid_bringup_prime")) / relative


def _control(options: Options, folder: Path, controllers: Path, facts: tuple[int, str]) -> Process:
    """The control process; `facts` are update rate [Hz] and URDF."""
    own = {
        "update_rate": facts[0],
        "robot_description": facts[1],
        "initial_controller": INITIAL_CONTROLLERS[options.initial_mode],
    }
    files = [controllers]
    if options.backend is Backend.REAL:
        files.append(_write(folder, "mode_manager", {"impedance_manager": STATE_TOPIC}))
    files.append(_write(folder, "controller_manager", own))
    name = "control" if options.enable_mode_manager else "control_without_mode_manager"
    return Process("control", "humanoid_controllers", name, tuple(files))


def _update_rate(options: Options, controllers: Document) -> int:
    if options.backend is Backend.MUJOCO:
        return SIMULATION_UPDATE_RATE
    return validate(_ManagerSection, _section(controllers, "controller_manager")).update_rate


def _section(document: Document, node: str) -> Document:
    """The parameters of `node` in a parameters file. Raises ConfigError if there are none."""
    try:
        section = document.content[node]["ros__parameters"]
    except (KeyError, TypeError):
        raise ConfigError(f"{document.name}: no {node}.ros__parameters") from None
    places = {
        key[2:]: place
        for key, place in document.places.items()
        if key[:2] == (node, "ros__parameters")
    }
    return Document(document.name, section, places)


def _description_arguments(options: Options, update_rate: int) -> dict[str, str]:
    arguments = {
        "backends": options.backends.value,
        "ethercat_interface": options.ethercat_interface,
        "use_sim": _xml_bool(options.backend is Backend.MUJOCO),
        "use_fake_hardware": _xml_bool(options.backend is Backend.MOCK),
        "real_time_factor": f"{options.real_time_factor:g}",
        # SYNC0 follows the loop by construction: there is no second place to set it.
        "control_frequency": str(update_rate),
    }
    for argument, path in (
        ("hardware_config", options.hardware_config),
        ("calibration_file", options.calibration_file),
    ):
        if path is not None:
            arguments[argument] = str(path)
    return arguments


def _xml_bool(value: bool) -> str:
    return "true" if value else "false"


def _viewer(options: Options, folder: Path) -> Process:
    parameters = {"host": options.viewer_host, "port": options.viewer_port}
    return Process("viewer", "humanoid_viz", "viewer", (_write(folder, "viewer", parameters),))


def _write(folder: Path, node: str, parameters: Mapping[str, Any]) -> Path:
    """A ROS parameters file for `node`; launch would give inline values to every node."""
    path = folder / f"{node}.yaml"
    content = {node: {"ros__parameters": dict(parameters)}}
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path
