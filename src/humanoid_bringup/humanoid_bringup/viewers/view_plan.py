"""Processes that show a robot from another machine, or its model without a robot."""

from pathlib import Path
from typing import Any, Final

from humanoid_bringup.executables import is_installed, write_parameters
from humanoid_bringup.options import Process
from humanoid_bringup.robot_package import RobotPackage
from humanoid_bringup.viewers import viewer_processes
from humanoid_control_common.description.mesh_files import Meshes, check_meshes
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import ROOT, remapping

# A model is no robot: its transforms stay off /tf, whatever their frames are called.
_VIEW: Final = viewer_processes.RosNames(
    "/view", ("/tf:=/view/tf", "/tf_static:=/view/tf_static"), frames=ROOT
)


def workstation(
    robot: RobotPackage, chosen: dict[str, Any], folder: Path
) -> tuple[list[Process], list[str]]:
    """Return the processes of an operator's workstation, and the notes to print first."""
    names = viewer_processes.RosNames(chosen["namespace"])
    shown = (
        viewer_processes.rviz(robot.rviz_file, folder, names, simulated=chosen["simulated"])
        if chosen["rviz"]
        else []
    )
    if chosen["viewer"]:
        shown.append(viewer_processes.viewer(_address(chosen), robot.title, folder, names))
    _refuse_empty(shown)
    return shown, _missing(chosen, viewer_processes.RVIZ)


def model(
    robot: RobotPackage, chosen: dict[str, Any], folder: Path
) -> tuple[list[Process], list[str]]:
    """Return the processes that show the robot's model at rest, and the notes to print first."""
    arguments = {"use_fake_hardware": "true"}
    if chosen["hardware_config"] is not None:
        arguments["hardware_config"] = str(chosen["hardware_config"])
    urdf = robot.expand(arguments)
    check_meshes(urdf, Meshes())
    shown = []
    if chosen["rviz"] and is_installed(viewer_processes.STATE_PUBLISHER):
        shown.append(viewer_processes.state_publisher(folder, urdf, _VIEW))
    if chosen["rviz"]:
        shown += viewer_processes.rviz(robot.rviz_file, folder, _VIEW)
    if chosen["viewer"]:
        shown.append(viewer_processes.viewer(_address(chosen), robot.title, folder, _VIEW))
    still = {"robot_description": urdf}
    file = write_parameters(folder, "still_model", still, _VIEW.namespace)
    words = ("--ros-args", "--params-file", str(file), *remapping(_VIEW.namespace))
    _refuse_empty(shown)
    return (
        [Process("model", "humanoid_viz", "still_model", arguments=words), *shown],
        _missing(chosen, viewer_processes.STATE_PUBLISHER, viewer_processes.RVIZ),
    )


def _address(chosen: dict[str, Any]) -> viewer_processes.ViewerAddress:
    return viewer_processes.ViewerAddress(
        chosen["viewer_host"], chosen["viewer_port"], chosen["viewer_token_file"]
    )


def _refuse_empty(shown: list[Process]) -> None:
    if not shown:
        raise ConfigError(
            "nothing to show the robot with: rviz2 is not installed or not wanted, "
            "and viewer:=false"
        )


def _missing(chosen: dict[str, Any], *packages: str) -> list[str]:
    return viewer_processes.missing(*packages) if chosen["rviz"] else []
