"""Processes that show the robot: the browser viewer, and ROS 2's tools where installed."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import yaml

from humanoid_bringup.executables import apt_install, is_installed, write_parameters
from humanoid_bringup.options import Backend, Options, Process
from humanoid_control_common.robot.robot_namespace import ROOT, frame_prefix, remapping

JOINT_STATES: Final = "prime/joint_states"
STATE_PUBLISHER: Final = "robot_state_publisher"
RVIZ: Final = "rviz2"
_TF_RATE: Final = 50.0  # [Hz]
_FIXED: Final = "world"  # the frame in which rviz shows the robot
# Keys of rviz's displays.
_TOPICS: Final = frozenset({"Topic", "Description Topic"})
_DESCRIPTION: Final = "Robot Description"
_PREFIX: Final = "TF Prefix"


def processes(options: Options, folder: Path, urdf: str) -> list[Process]:
    """Return the viewers that `options` select for the robot of `urdf`; none is required."""
    shown, names = [], RosNames(options.namespace)
    if options.robot_state_publisher and is_installed(STATE_PUBLISHER):
        shown.append(state_publisher(folder, urdf, names))
    if options.rviz:
        simulated = options.backend is Backend.MUJOCO
        shown += rviz(options.robot.rviz_file, folder, names, simulated=simulated)
    if options.viewer:
        token = options.viewer_token_file
        address = ViewerAddress(options.viewer_host, options.viewer_port, token)
        shown.append(viewer(address, options.robot.title, folder, names))
    return shown


def notes(options: Options) -> list[str]:
    """Return a note for each selected viewer that is not installed."""
    selected = {STATE_PUBLISHER: options.robot_state_publisher, RVIZ: options.rviz}
    return missing(*(package for package, wanted in selected.items() if wanted))


def missing(*packages: str) -> list[str]:
    """Return a sentence for each of `packages` that is not installed."""
    lost = {STATE_PUBLISHER: "/tf", RVIZ: "rviz"}
    return [
        f"{package} is not installed, so there is no {lost[package]}: `{apt_install(package)}`"
        for package in packages
        if not is_installed(package)
    ]


@dataclass(frozen=True, slots=True)
class RosNames:
    """ROS namespace and remappings of a program; `frames`: the namespace of the robot's frames."""

    namespace: str = ROOT
    remappings: tuple[str, ...] = ()
    frames: str | None = None  # None: `namespace`

    @property
    def arguments(self) -> tuple[str, ...]:
        """As the ROS arguments of a program."""
        rules = (word for rule in self.remappings for word in ("-r", rule))
        return (*rules, *remapping(self.namespace))

    @property
    def frame_prefix(self) -> str:
        """Return the prefix of the robot's frames."""
        return frame_prefix(self.namespace if self.frames is None else self.frames)


@dataclass(frozen=True, slots=True)
class ViewerAddress:
    """Address of the browser viewer, and the file with its token, if any."""

    host: str
    port: int
    token_file: Path | None = None

    @property
    def parameters(self) -> dict[str, str | int]:
        """Of the viewer's node."""
        token = str(self.token_file) if self.token_file else ""
        return {"host": self.host, "port": self.port, "token_file": token}


def viewer(address: ViewerAddress, title: str, folder: Path, names: RosNames) -> Process:
    """Return the browser viewer; `title` is the robot's."""
    own = {**address.parameters, "title": title}
    file = write_parameters(folder, "viewer", own, names.namespace)
    return _process("viewer", "humanoid_viz", "viewer", file, names)


def state_publisher(folder: Path, urdf: str, names: RosNames) -> Process:
    """Return the publisher of /tf. The description keeps its one publisher, the robot."""
    parameters = {
        "robot_description": urdf,
        "publish_frequency": _TF_RATE,
        "frame_prefix": names.frame_prefix,
    }
    file = write_parameters(folder, STATE_PUBLISHER, parameters, names.namespace)
    # Its own names first: of two rules for a name the first one counts.
    own = ("robot_description:=~/robot_description", f"joint_states:={JOINT_STATES}")
    own_names = replace(names, remappings=(*own, *names.remappings))
    return _process("tf", STATE_PUBLISHER, STATE_PUBLISHER, file, own_names)


def rviz(config: Path, folder: Path, names: RosNames, *, simulated: bool = False) -> list[Process]:
    """Return rviz with its `config`, and the text it shows; nothing if rviz is not installed.

    `simulated`: its clock is that of the robot's topic `clock`.
    """
    if not is_installed(RVIZ):
        return []
    shown = config
    if names.namespace:
        shown = folder / config.name
        shown.write_text(_in_namespace(config.read_text(encoding="utf-8"), names), encoding="utf-8")
    clock = ("-p", f"use_sim_time:={str(simulated).lower()}")
    # rviz itself would take the time from the root.
    own_names = replace(names, remappings=("/clock:=clock", *names.remappings))
    words = ("-d", str(shown), "--ros-args", *clock, *own_names.arguments)
    text = {"frame": f"{names.frame_prefix}{_FIXED}"}
    file = write_parameters(folder, "status_marker", text, names.namespace)
    return [
        Process("rviz", RVIZ, RVIZ, arguments=words, required=False, background=True),
        _process("status", "humanoid_viz", "status_marker", file, names),
    ]


def _in_namespace(config: str, names: RosNames) -> str:
    """Return a configuration of rviz with the topics and frames of a robot in a namespace."""
    content = yaml.safe_load(config)
    manager = content["Visualization Manager"]
    manager["Global Options"]["Fixed Frame"] = f"{names.frame_prefix}{_FIXED}"
    for display in manager["Displays"]:
        for key in _TOPICS & display.keys():
            display[key]["Value"] = f"{names.namespace}{display[key]['Value']}"
        if _DESCRIPTION in display:
            display[_DESCRIPTION] = f"{names.namespace}{display[_DESCRIPTION]}"
        if _PREFIX in display:
            display[_PREFIX] = names.frame_prefix.rstrip("/")
    return yaml.safe_dump(content, sort_keys=False)


def _process(label: str, package: str, executable: str, file: Path, names: RosNames) -> Process:
    words = ("--ros-args", "--params-file", str(file), *names.arguments)
    return Process(label, package, executable, arguments=words, required=False, background=True)
