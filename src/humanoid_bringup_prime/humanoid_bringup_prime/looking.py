"""What runs to look at a robot from another machine, or at its model without any robot."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from humanoid_bringup_prime import desktop
from humanoid_bringup_prime.executables import is_installed
from humanoid_bringup_prime.options import Process
from humanoid_bringup_prime.parameters_file import write_parameters
from humanoid_control_common.errors import ConfigError
from prime_description.description import expand

_OF_THE_ROBOT: Final = (
    "/control_mode", "/emergency_stop", "/mode_manager/clear_fault", "/prime/joint_commands",
    "/prime/status_marker", "/robot_description", "/safety_status", "/standby_controller/state",
    "/tf", "/tf_static",
)  # fmt: skip
_VIEW: Final = desktop.Aside(
    "/view",
    (
        "/prime/joint_states:=/view/joint_states",
        *(f"{name}:=/view{name}" for name in _OF_THE_ROBOT),
    ),
)


def workstation(chosen: dict[str, Any], folder: Path) -> tuple[list[Process], list[str]]:
    """The operator's workstation: what to start, and what to say before."""
    shown = desktop.rviz(simulated=chosen["simulated"]) if chosen["rviz"] else []
    if chosen["viewer"]:
        shown.append(desktop.viewer(_address(chosen), folder))
    return _something(shown), _missing(chosen, desktop.RVIZ)


def model(chosen: dict[str, Any], folder: Path) -> tuple[list[Process], list[str]]:
    """The robot's model, standing still: what to start, and what to say before."""
    arguments = {"use_fake_hardware": "true"}
    if chosen["hardware_config"] is not None:
        arguments["hardware_config"] = str(chosen["hardware_config"])
    urdf = expand(arguments)
    shown = []
    if chosen["rviz"] and is_installed(desktop.STATE_PUBLISHER):
        shown.append(desktop.state_publisher(folder, urdf, _VIEW))
    if chosen["rviz"]:
        shown += desktop.rviz(_VIEW)
    if chosen["viewer"]:
        shown.append(desktop.viewer(_address(chosen), folder, _VIEW))
    still = {"robot_description": urdf}
    file = write_parameters(folder, "still_model", still, _VIEW.namespace)
    words = ("--ros-args", "--params-file", str(file), "-r", f"__ns:={_VIEW.namespace}")
    _something(shown)
    return (
        [Process("model", "humanoid_viz", "still_model", arguments=words), *shown],
        _missing(chosen, desktop.STATE_PUBLISHER, desktop.RVIZ),
    )


def _address(chosen: dict[str, Any]) -> desktop.ViewerAddress:
    return desktop.ViewerAddress(
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
    return desktop.missing(*packages) if chosen["rviz"] else []
