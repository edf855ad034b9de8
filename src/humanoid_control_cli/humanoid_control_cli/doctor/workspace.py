"""Check ROS 2, its log files, this workspace's packages, the EtherCAT library, the ROS domain."""

import importlib
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from humanoid_bringup.executables import is_installed
from humanoid_bringup.preflight.findings import Finding, missing, ok, warning
from humanoid_bringup.preflight.log_folder import log_folder
from humanoid_control_cli.domain import robot_namespace, ros_domain
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.middleware.fastdds_tuning import PROFILE_VARIABLES, untuned
from humanoid_control_common.robot.domain_lock import take_domain_lock
from humanoid_control_common.robot.robot_namespace import in_words

ROS: Final = "ROS 2"
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
    name, problem = loaded_middleware()
    return [
        ros(os.environ, problem),
        packages(),
        pysoem(),
        log_folder(os.environ),
        domain(),
        *([middleware(os.environ, name)] if name else []),
        reach(os.environ),
    ]


def loaded_middleware() -> tuple[str, str]:
    """Return rclpy's name of the middleware that it loads, and why it loads none; one is empty.

    It is loaded in a process of its own, which rclpy ends if the middleware is not installed.
    """
    program = "from rclpy.utilities import get_rmw_implementation_identifier as f; print(f())"
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    if found.returncode == 0:
        return found.stdout.strip(), ""
    lines = [it for it in found.stderr.splitlines() if it] or [f"exit code {found.returncode}"]
    # The line of the exception, to which rclpy adds a paragraph.
    return "", next((it for it in lines if "Error: " in it), lines[-1])


def ros(environment: Mapping[str, str], problem: str) -> Finding:
    """Check that the environment names ROS 2, and that it was loaded without a `problem`."""
    distribution = environment.get("ROS_DISTRO")
    if not distribution:
        return missing(ROS, "no ROS 2 environment (ROS_DISTRO is not set)", OPEN)
    if problem:
        return missing(ROS, f"rclpy cannot be loaded: {problem}", OPEN)
    return ok(ROS, distribution)


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
            "`hc down`, or another `export ROS_DOMAIN_ID=…` for a second robot",
        )
    return ok(subject, f"{in_words(str(number), namespace)} is free")


def middleware(environment: Mapping[str, str], name: str) -> Finding:
    """Check that the middleware of this name works as the robot needs it."""
    subject = "middleware"
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
    name, problem = loaded_middleware()
    return {
        "humanoid_control": _version("humanoid_control_cli"),
        "ROS 2": os.environ.get("ROS_DISTRO") or "unknown (ROS_DISTRO is not set)",
        "rmw": name or f"not loaded: {problem}",
        "Python": platform.python_version(),
        "mujoco": _version("mujoco"),
        "pysoem": _version("pysoem"),
    }


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"
