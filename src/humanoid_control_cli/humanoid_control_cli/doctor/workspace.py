"""Check ROS 2, this workspace's packages, the EtherCAT library and the ROS domain."""

import importlib
import os
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_bringup.executables import is_installed
from humanoid_bringup.preflight.findings import Finding, missing, ok, warning
from humanoid_control_cli.domain import robot_namespace, ros_domain
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.middleware.fastdds_tuning import PROFILE_VARIABLES, untuned
from humanoid_control_common.robot.domain_lock import take_domain_lock
from humanoid_control_common.robot.robot_namespace import in_words

OPEN: Final = "build the workspace and open it: `make build`, then `source env.sh`"
FAST_DDS: Final = "`export RMW_IMPLEMENTATION=rmw_fastrtps_cpp`"
# Programs that a bring-up of the real robot starts, and plug-ins that it loads.
PACKAGES: Final = (
    "humanoid_control_msgs",
    "humanoid_controllers",
    "humanoid_devices_erob",
    "humanoid_bringup_prime",
    "humanoid_viz",
)


def workspace() -> list[Finding]:
    """Run all checks of this module."""
    return [
        ros(os.environ),
        packages(),
        pysoem(),
        domain(),
        middleware(os.environ),
        reach(os.environ),
    ]


def ros(environment: Mapping[str, str]) -> Finding:
    """Check that the environment names ROS 2, and that it can be loaded."""
    distribution = environment.get("ROS_DISTRO")
    if not distribution:
        return missing("ROS 2", "no ROS 2 environment (ROS_DISTRO is not set)", OPEN)
    try:
        importlib.import_module("rclpy")
    except ImportError as error:  # first line: rclpy adds a paragraph
        return missing("ROS 2", f"rclpy cannot be loaded: {str(error).splitlines()[0]}", OPEN)
    return ok("ROS 2", distribution)


def packages() -> Finding:
    """Check the packages of this workspace."""
    absent = [package for package in PACKAGES if not is_installed(package)]
    if absent:
        return missing("packages", f"not installed: {', '.join(absent)}", OPEN)
    return ok("packages", "all are installed")


def pysoem() -> Finding:
    """Check the EtherCAT master's library."""
    try:
        importlib.import_module("pysoem")
        found = version("pysoem")
    except (ImportError, PackageNotFoundError) as error:
        return missing("pysoem", f"cannot be loaded: {error}", "`make setup`")
    return ok("pysoem", found)


def domain() -> Finding:
    """Check that a control process may be started on ROS_DOMAIN_ID."""
    subject = "ROS domain"
    try:
        number, namespace = ros_domain(), robot_namespace()
    except ConfigError as error:
        return missing(subject, str(error), "`unset ROS_DOMAIN_ID`, or set one of these")
    try:
        take_domain_lock(namespace=namespace).close()
    except ConfigError as error:
        return warning(
            subject,
            str(error).partition(";")[0],
            "`hc mode quit`, or another `export ROS_DOMAIN_ID=…` for a second robot",
        )
    return ok(subject, f"{in_words(str(number), namespace)} is free")


def middleware(environment: Mapping[str, str], implementation: str = "") -> Finding:
    """Check that the middleware works as the robot needs it.

    `implementation` is rclpy's name of it; empty: the one in use.
    """
    subject = "middleware"
    try:
        name = implementation or _implementation()
    except (ImportError, RuntimeError) as error:
        return missing(subject, f"cannot be loaded: {str(error).splitlines()[0]}", OPEN)
    why = untuned(name, environment)
    if not why:
        return ok(
            subject,
            f"{name}, tuned: UDP only, announced every 0.3 s, sends to a network don't block",
        )
    return warning(
        subject,
        f"{name}, not tuned ({why}): its shared memory, announcements and blocking sends can "
        "delay the control loop",
        f"{FAST_DDS}, without {', '.join(PROFILE_VARIABLES)} and ROS_STATIC_PEERS",
    )


def _implementation() -> str:
    from rclpy.utilities import get_rmw_implementation_identifier

    return str(get_rmw_implementation_identifier())


def reach(environment: Mapping[str, str]) -> Finding:
    """Show which machines can send this robot requests."""
    found = environment.get("ROS_AUTOMATIC_DISCOVERY_RANGE") or "SUBNET"  # the default of ROS
    if found in {"LOCALHOST", "OFF"}:
        return ok("ROS discovery", f"{found}: this machine only")
    return warning(
        "ROS discovery",
        f"{found}: every machine on the network can command the robot",
        "`export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST`, unless this is intended",
    )


def versions() -> dict[str, str]:
    """Return the versions that a bug report should name."""
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
