"""Processes that show the robot: the browser viewer, and ROS 2's tools where installed."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from humanoid_bringup.executables import apt_install, is_installed, write_parameters
from humanoid_bringup.options import Backend, Options, Process

JOINT_STATES: Final = "/prime/joint_states"
STATE_PUBLISHER: Final = "robot_state_publisher"
RVIZ: Final = "rviz2"
_TF_RATE: Final = 50.0  # [Hz]


def processes(options: Options, folder: Path, urdf: str) -> list[Process]:
    """Return the viewers that `options` select for the robot of `urdf`; none is required."""
    shown = []
    if options.robot_state_publisher and is_installed(STATE_PUBLISHER):
        shown.append(state_publisher(folder, urdf))
    if options.rviz:
        shown += rviz(options.robot.rviz_file, simulated=options.backend is Backend.MUJOCO)
    if options.viewer:
        token = options.viewer_token_file
        address = ViewerAddress(options.viewer_host, options.viewer_port, token)
        shown.append(viewer(address, folder))
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
class Aside:
    """Namespace and remappings of a program that stays off the robot's topics."""

    namespace: str = ""
    remappings: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """As the ROS arguments of a program."""
        name = (f"__ns:={self.namespace}",) if self.namespace else ()
        return (*self.remappings, *name)


WITH_THE_ROBOT: Final = Aside()


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


def viewer(address: ViewerAddress, folder: Path, where: Aside = WITH_THE_ROBOT) -> Process:
    """Return the browser viewer."""
    file = write_parameters(folder, "viewer", address.parameters, where.namespace)
    return _process("viewer", "humanoid_viz", "viewer", file, where.rules)


def state_publisher(folder: Path, urdf: str, where: Aside = WITH_THE_ROBOT) -> Process:
    """/tf from the joint states. The description keeps its one publisher, the robot."""
    parameters = {"robot_description": urdf, "publish_frequency": _TF_RATE}
    file = write_parameters(folder, STATE_PUBLISHER, parameters, where.namespace)
    # Its own names first: of two rules for a name the first one counts.
    rules = (
        "robot_description:=~/robot_description",
        f"joint_states:={where.namespace + '/joint_states' if where.namespace else JOINT_STATES}",
    )
    return _process("tf", STATE_PUBLISHER, STATE_PUBLISHER, file, (*rules, *where.rules))


def rviz(config: Path, where: Aside = WITH_THE_ROBOT, *, simulated: bool = False) -> list[Process]:
    """Rviz with its `config`, and the text it shows; nothing if rviz is not installed.

    `simulated`: its clock is that of /clock.
    """
    if not is_installed(RVIZ):
        return []
    clock = ("-p", f"use_sim_time:={str(simulated).lower()}")
    words = ("-d", str(config), "--ros-args", *clock, *_rules(where.rules))
    return [
        Process("rviz", RVIZ, RVIZ, arguments=words, required=False),
        _process("status", "humanoid_viz", "status_marker", None, where.rules),
    ]


def _process(
    label: str, package: str, executable: str, file: Path | None, remappings: tuple[str, ...]
) -> Process:
    files = () if file is None else (file,)
    if not remappings:
        return Process(label, package, executable, files, required=False)
    words = [word for path in files for word in ("--params-file", str(path))]
    words = ["--ros-args", *words, *_rules(remappings)]
    return Process(label, package, executable, arguments=tuple(words), required=False)


def _rules(remappings: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(word for rule in remappings for word in ("-r", rule))
