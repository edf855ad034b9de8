"""Processes that show a robot from another machine, or its model without a robot."""

from pathlib import Path
from typing import Any, Final

from humanoid_bringup.executables import is_installed, write_parameters
from humanoid_bringup.options import Process
from humanoid_bringup.robot_package import RobotPackage
from humanoid_bringup.viewers import viewer_processes
from humanoid_control_common.errors import ConfigError

_OF_THE_ROBOT: Final = (
    "/control_mode", "/emergency_stop", "/mode_manager/clear_fault", "/prime/joint_commands",
    "/prime/status_marker", "/robot_description", "/safety_status", "/standby_controller/state",
    "/tf", "/tf_static",
)  # fmt: skip
_VIEW: Final = viewer_processes.Aside(
    "/view",
    (
        "/prime/joint_states:=/view/joint_states",
        *(f"{name}:=/view{name}" for name in _OF_THE_ROBOT),
    ),
)


def workstation(
    robot: RobotPackage, chosen: dict[str, Any], folder: Path
) -> tuple[list[Process], list[str]]:
    """Return the processes of an operator's workstation, and the notes to print first."""
    shown = (
        viewer_processes.rviz(robot.rviz_file, simulated=chosen["simulated"])
        if chosen["rviz"]
        else []
    )
    if chosen["viewer"]:
        shown.append(viewer_processes.viewer(_address(chosen), folder))
    return _something(shown), _missing(chosen, viewer_processes.RVIZ)


def model(
    robot: RobotPackage, chosen: dict[str, Any], folder: Path
) -> tuple[list[Process], list[str]]:
    """Return the processes that show the robot's model at rest, and the notes to print first."""
    arguments = {"use_fake_hardware": "true"}
    if chosen["hardware_config"] is not None:
        arguments["hardware_config"] = str(chosen["hardware_config"])
    urdf = robot.expand(arguments)
    shown = []
    if chosen["rviz"] and is_installed(viewer_processes.STATE_PUBLISHER):
        shown.append(viewer_processes.state_publisher(folder, urdf, _VIEW))
    if chosen["rviz"]:
        shown += viewer_processes.rviz(robot.rviz_file, _VIEW)
    if chosen["viewer"]:
        shown.append(viewer_processes.viewer(_address(chosen), folder, _VIEW))
    still = {"robot_description": urdf}
    file = write_parameters(folder, "still_model", still, _VIEW.namespace)
    words = ("--ros-args", "--params-file", str(file), "-r", f"__ns:={_VIEW.namespace}")
    _something(shown)
    return (
        [Process("model", "humanoid_viz", "still_model", arguments=words), *shown],
        _missing(chosen, viewer_processes.STATE_PUBLISHER, viewer_processes.RVIZ),
    )


def _address(chosen: dict[str, Any]) -> viewer_processes.ViewerAddress:
    return viewer_processes.ViewerAddress(
        chosen["viewer_host"], chosen["viewer_port"], chosen["viewer_token_file"]
    )


def _something(shown: list[Process]) -> list[Process]:
    if not shown:
        raise ConfigError(
            "nothing to show the robot with: rviz2 is not installed or not wanted, "
            "and viewer:=false"
        )
    return shown


def _missing(chosen: dict[str, Any], *packages: str) -> list[str]:
    return viewer_processes.missing(*packages) if chosen["rviz"] else []
