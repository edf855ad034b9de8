"""What `hc version` shows."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version

from rclpy.utilities import get_rmw_implementation_identifier


def versions() -> dict[str, str]:
    """The versions that a bug report should name."""
    return {
        "humanoid_control": _version("humanoid_control_cli"),
        "ROS 2": os.environ.get("ROS_DISTRO") or "unknown (ROS_DISTRO is not set)",
        "rmw": str(get_rmw_implementation_identifier()),
        "Python": platform.python_version(),
        "mujoco": _version("mujoco"),
        "pysoem": _version("pysoem"),
    }


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
