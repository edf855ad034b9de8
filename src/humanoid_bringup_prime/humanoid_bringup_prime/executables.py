"""Where the programs of a bring-up are installed."""

from __future__ import annotations

import os
from pathlib import Path

from ament_index_python.packages import PackageNotFoundError, get_package_prefix

from humanoid_control_common.errors import ConfigError


def find_executable(package: str, executable: str) -> Path:
    """Where `ros2 run` finds it too. Raises ConfigError with what to do if it isn't there."""
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
    """Whether there is a ROS package of that name."""
    try:
        get_package_prefix(package)
    except PackageNotFoundError:
        return False
    return True


def apt_install(package: str) -> str:
    """The command that installs a package of ROS 2."""
    return f"sudo apt install ros-$ROS_DISTRO-{package.replace('_', '-')}"
