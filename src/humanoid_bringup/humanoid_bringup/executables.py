"""Locate the programs of a bring-up; compose their command lines and parameter files."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix

from humanoid_bringup.options import Process
from humanoid_control_common.configuration.parameter_files import OF_BRING_UP
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import ROOT, absolute, remapping

# In C: the other one takes a twentieth of a second for a robot description.
_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def find_executable(package: str, executable: str) -> Path:
    """Return the path that `ros2 run` uses. Raises ConfigError with a remedy if it is absent."""
    remedy = "build the workspace (`make build`) and open it (`source env.sh`)"
    if not package.startswith("humanoid_"):
        remedy = f"it comes with ROS 2: `{apt_install(package)}`, not with PyPI"
    try:
        program = Path(get_package_prefix(package)) / "lib" / package / executable
    except PackageNotFoundError:
        raise ConfigError(f"package {package} is not installed: {remedy}") from None
    if not os.access(program, os.X_OK):
        raise ConfigError(f"{program}: no such executable: {remedy}")
    return program


def is_installed(package: str) -> bool:
    """Return True if a ROS package of that name is installed."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def apt_install(package: str) -> str:
    """Return the command that installs a package of ROS 2."""
    return f"sudo apt install ros-$ROS_DISTRO-{package.replace('_', '-')}"


def command_line(process: Process) -> list[str]:
    """Return the command line of a process. Raises ConfigError as `find_executable`."""
    program = str(find_executable(process.package, process.executable))
    files = [word for file in process.parameter_files for word in ("--params-file", str(file))]
    words = "--ros-args", *remapping(process.namespace), *files
    return [program, *(process.arguments or words)]


def parameters_file(folder: Path, node: str) -> Path:
    """Return the path at which `write_parameters` writes."""
    return folder / f"{node}{OF_BRING_UP}"


def write_parameters(
    folder: Path, node: str, parameters: Mapping[str, Any], namespace: str = ROOT
) -> Path:
    """Write a ROS parameters file for `node`; launch would give inline values to every node.

    Raises ConfigError if it cannot be written.
    """
    path = parameters_file(folder, node)
    name = absolute(namespace, node) if namespace else node
    content = {name: {"ros__parameters": dict(parameters)}}
    write_file(path, yaml.dump(content, Dumper=_Dumper, sort_keys=False))
    return path


def write_file(path: Path, text: str) -> None:
    """Write a file of the bring-up. Raises ConfigError: the disk may be full."""
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be written: {error.strerror}") from error
