"""Says once which processes run with which parameters: launch files and `hc up` read it here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Final

import yaml
from ament_index_python.packages import get_package_share_directory

from humanoid_control_common.config import StrictModel, read_yaml, validate
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


class _ManagerSection(StrictModel, extra="ignore"):
    update_rate: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What can be chosen at a bring-up. Paths default to the files this package installs."""

    backend: Backend
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
    """One process of a bring-up; all are required: if one ends, the rest is stopped."""

    label: str
    package: str
    executable: str
    parameter_files: tuple[Path, ...]


def plan(options: Options, folder: Path) -> list[Process]:
    """The processes of a bring-up, in the order they are started.

    The parameters made here are written into `folder`, which must outlive the processes.

    Raises ConfigError for whatever is wrong in files and options.
    """
    processes = [_control(options, folder)]
    if options.viewer:
        processes.append(_viewer(options, folder))
    return processes


def _share(relative: str) -> Path:
    return Path(get_package_share_directory("humanoid_bringup_prime")) / relative


def _control(options: Options, folder: Path) -> Process:
    controllers = options.controllers_file or _share("config/prime_controllers.yaml")
    update_rate = _update_rate(options, controllers)
    own = {
        "update_rate": update_rate,
        "robot_description": expand(_description_arguments(options, update_rate)),
        "initial_controller": INITIAL_CONTROLLERS[options.initial_mode],
    }
    name = "control" if options.enable_mode_manager else "control_without_mode_manager"
    files = (controllers, _write(folder, "controller_manager", own))
    return Process("control", "humanoid_controllers", name, files)


def _update_rate(options: Options, controllers: Path) -> int:
    if options.backend is Backend.MUJOCO:
        return SIMULATION_UPDATE_RATE
    document = read_yaml(controllers)
    try:
        section = document.content["controller_manager"]["ros__parameters"]
    except (KeyError, TypeError):
        raise ConfigError(f"{controllers}: no controller_manager.ros__parameters") from None
    places = {
        key[2:]: place
        for key, place in document.places.items()
        if key[:2] == ("controller_manager", "ros__parameters")
    }
    section_document = type(document)(document.name, section, places)
    return validate(_ManagerSection, section_document).update_rate


def _description_arguments(options: Options, update_rate: int) -> dict[str, str]:
    arguments = {
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
