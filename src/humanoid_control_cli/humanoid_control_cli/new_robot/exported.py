"""An exported description: its facts for a bring-up, and copies of its meshes."""

import copy
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from humanoid_control_common.description.mesh_files import Meshes, check_meshes
from humanoid_control_common.description.mesh_references import (
    MeshError,
    mesh_path,
    mesh_references,
    with_absolute_meshes,
)
from humanoid_control_common.description.mujoco_input import mujoco_input
from humanoid_control_common.description.tree import check_names
from humanoid_control_common.errors import ConfigError, of_each
from humanoid_control_common.robot import robot_description
from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, STATE_INTERFACES
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_motion.dynamics.gravity_model import GravityModel

_BLOCK: Final = "ros2_control"
_RATE: Final = 200.0  # [Hz], of no effect on limits
_WIDEST: Final = 4.0 * math.pi + 0.01  # [rad] of a range: a turn to both sides, rounded
_FASTEST: Final = 50.0  # [rad/s], of the fastest known motor; 1 rad/s is 57 deg/s
_STRONGEST: Final = 25.0  # times the largest torque against gravity; Prime, Lite, Hand: 3 to 17
_LEAST_HELD: Final = 1e-3  # [Nm]
_POSES: Final = 200
_FOLDERS: Final = ("meshdir", "assetdir", "strippath")  # of MuJoCo: references have no need of it
_MATERIALS: Final = re.compile(rb"^mtllib[ \t]+(.+?)[ \t\r]*$", re.MULTILINE)  # of an OBJ


@dataclass(frozen=True, slots=True)
class Export:
    """A description that can be brought up."""

    urdf: bytes  # its meshes are named as those of a package
    meshes: dict[str, bytes]  # by file name, with the materials that they name
    joints: tuple[str, ...]  # that move, in the order of the description
    limits: JointLimits
    warnings: tuple[str, ...]


def read_export(description: Path, name: str, folder: str) -> Export:
    """Return the description as that of the robot `name`, whose meshes are in `folder`, a URI.

    Raises ConfigError, naming file, link or joint, for a description that can't be brought up.
    """
    expanded = robot_description.expand(description, {})
    urdf = with_absolute_meshes(expanded, description)
    meshes = Meshes()
    heavy = check_meshes(urdf, meshes)
    try:
        robot = ElementTree.fromstring(urdf)
        if robot.find(_BLOCK) is not None:
            raise ConfigError(f"it has <{_BLOCK}> blocks: remove them: the new package has its own")
        joints = _moving(robot)
        doubts = mujoco_input(urdf, meshes).warnings
        check_names(robot)
        limits = _limits(robot, joints)
        held = _held(GravityModel(urdf, joints), limits)
    except MeshError:
        raise  # names its file
    except ConfigError as error:
        raise ConfigError(f"{description}: {error}") from error
    warnings = (*heavy, *doubts, *_doubtful(joints, limits, held))
    files = _move_meshes(robot, folder)
    robot.set("name", name)
    text = ElementTree.tostring(robot, encoding="unicode") + "\n"
    return Export(text.encode(), files, joints, limits, warnings)


def _moving(robot: Element) -> tuple[str, ...]:
    found = tuple(filter(None, of_each(_moved, robot.findall("joint"))))
    if not found:
        raise ConfigError("no joint moves, expected a revolute one")
    return found


def _moved(joint: Element) -> str:
    """Return the name of a joint that moves; empty: it is fixed."""
    kind = joint.get("type", "")
    where = f"joint '{joint.get('name')}'"
    if kind not in ("revolute", "fixed"):
        raise ConfigError(
            f"{where} is {kind or 'of no type'}, expected revolute (with limits) or fixed"
        )
    mimic = joint.find("mimic")
    if mimic is not None:
        raise ConfigError(
            f"{where} mimics '{mimic.get('joint', '')}': a robot has no coupled joints: remove "
            "<mimic> if the joint has a drive of its own; else make it fixed"
        )
    return joint.get("name", "") if kind == "revolute" else ""


def _limits(robot: Element, joints: tuple[str, ...]) -> JointLimits:
    """Return the limits as the controller manager reads them."""
    whole = copy.deepcopy(robot)
    block = ElementTree.SubElement(whole, _BLOCK, name="check", type="system")
    hardware = ElementTree.SubElement(block, "hardware")
    ElementTree.SubElement(hardware, "plugin").text = "check"
    for name in joints:
        joint = ElementTree.SubElement(block, "joint", name=name)
        for interface in COMMAND_INTERFACES:
            ElementTree.SubElement(joint, "command_interface", name=interface)
        for interface in STATE_INTERFACES:
            ElementTree.SubElement(joint, "state_interface", name=interface)
    text = ElementTree.tostring(whole, encoding="unicode")
    return parse_robot_description(text, _RATE).limits


def _held(model: GravityModel, limits: JointLimits) -> float:
    """Return the largest torque [Nm] that a joint carries against gravity, at many poses."""
    shape = _POSES, len(limits.lower)
    poses = np.random.default_rng(0).uniform(limits.lower, limits.upper, shape)
    return max(float(np.abs(model.torque(pose)).max()) for pose in poses)


def _doubtful(joints: tuple[str, ...], limits: JointLimits, held: float) -> Iterator[str]:
    """Yield a warning for each limit that may be in degrees, deg/s, rpm or Nmm, or made up.

    `held`: see `_held`. A robot that carries nothing tells nothing about its drives.
    """
    strongest = _STRONGEST * held if held > _LEAST_HELD else math.inf
    carried = f", and no joint carries more than {held:.3g} Nm"
    for name, unit, values, most, beside in (
        ("range", "rad", limits.upper - limits.lower, _WIDEST, ""),
        ("velocity limit", "rad/s", limits.velocity, _FASTEST, ""),
        ("effort limit", "Nm", limits.effort, strongest, carried),
    ):
        for joint, value in zip(joints, values, strict=True):
            if value > most:
                found = f"its {name} is {value:.3g} {unit}{beside}"
                yield f"joint '{joint}': {found}: check the units of its limits"


def _move_meshes(robot: Element, folder: str) -> dict[str, bytes]:
    """Name the meshes as files in `folder`, and return them."""
    names: dict[Path, str] = {}
    found: dict[str, bytes] = {}
    for reference in mesh_references(robot):
        path = mesh_path(reference)
        if path not in names:
            names[path] = _free_name(path, found)
            found[names[path]] = path.read_bytes()
            for name, content in _materials(path):
                if found.setdefault(name, content) != content:
                    raise ConfigError(f"{path}: another OBJ has other materials in a file {name}")
        reference.element.set("filename", f"{folder}/{names[path]}")
    for compiler in robot.findall("mujoco/compiler"):
        for name in _FOLDERS:
            compiler.attrib.pop(name, None)
    return found


def _free_name(path: Path, taken: dict[str, bytes]) -> str:
    name, number = path.name, 2
    while name in taken:
        name = f"{path.stem}_{number}{path.suffix}"
        number += 1
    return name


def _materials(path: Path) -> Iterator[tuple[str, bytes]]:
    if path.suffix.lower() == ".obj":
        for match in _MATERIALS.finditer(path.read_bytes()):
            file = path.parent / match[1].decode(errors="replace")
            if file.is_file():
                yield file.name, file.read_bytes()
