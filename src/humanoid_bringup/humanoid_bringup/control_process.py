"""The control process of a bring-up: its command line and its parameter files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from humanoid_bringup.executables import parameters_file, write_parameters
from humanoid_bringup.options import Backend, Options, Process
from humanoid_devices_erob.impedance.names import STATE_TOPIC

_MODE_MANAGER: Final = "mode_manager"
_CONTROLLER_MANAGER: Final = "controller_manager"


def control_process(options: Options, folder: Path) -> Process:
    """Return the control process; `configured_control` writes its files into `folder`."""
    files = [options.controllers_file or options.robot.controllers_file]
    if _mode_manager(options):
        files.append(parameters_file(folder, _MODE_MANAGER))
    files.append(parameters_file(folder, _CONTROLLER_MANAGER))
    name = "control" if options.enable_mode_manager else "control_without_mode_manager"
    return Process(
        "control", "humanoid_controllers", name, tuple(files), namespace=options.namespace
    )


def configured_control(options: Options, folder: Path, own: Mapping[str, Any]) -> Process:
    """Return the control process with its files; `own` is for its controller manager."""
    modes = _mode_manager(options)
    if modes:
        write_parameters(folder, _MODE_MANAGER, modes, options.namespace)
    write_parameters(folder, _CONTROLLER_MANAGER, own, options.namespace)
    return control_process(options, folder)


def has_erobs(options: Options) -> bool:
    """Return whether eRobs on a ring move joints."""
    return options.backend is Backend.REAL and options.has(options.robot.ring)


def _mode_manager(options: Options) -> dict[str, Any]:
    modes: dict[str, Any] = {"impedance_manager": STATE_TOPIC} if has_erobs(options) else {}
    if options.enable_gamepad:
        modes["gamepad"] = True
    if options.heartbeats:
        modes["heartbeats"] = dict(options.heartbeats)
    return modes
