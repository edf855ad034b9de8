"""A description of links and joints, such as a CAD export, instead of the robot's own.

The robot keeps its own `<ros2_control>` blocks: its bring-up defines which drive moves which joint,
and a CAD export does not contain that.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from humanoid_control_common.description.mesh_references import (
    PACKAGE,
    file_of_package,
    with_absolute_meshes,
)
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot import robot_description
from humanoid_controller_manager.hardware.block_parameters import number

BLOCK: Final = "ros2_control"
_ENDINGS: Final = (".urdf", ".urdf.xacro")
# What selects the source of motion: a description with blocks and without these would start real
# drives in a simulation.
_SELECTORS: Final = frozenset({"use_sim", "use_fake_hardware"})
_FIXED: Final = "fixed"
_MOVING: Final = "revolute"
_ENDS: Final = ("lower", "upper")


def find_description(text: str) -> Path:
    """Return the file of a description, given as a file, its folder or `package://NAME/PATH`.

    Raises ConfigError if there is none, or more than one.
    """
    path = _path(text)
    if path.is_file():
        return path
    if not path.is_dir():
        raise ConfigError(f"description {text}: there is no file or folder {path}")
    found = sorted(
        file
        for depth in ("*", "*/*")
        for file in path.glob(depth)
        if file.is_file() and file.name.endswith(_ENDINGS)
    )
    if len(found) != 1:
        names = ", ".join(str(file.relative_to(path)) for file in found) or "none"
        raise ConfigError(
            f"description {text}: expected one file that ends in {' or '.join(_ENDINGS)} in {path} "
            f"or its folders, found {names}: name the file"
        )
    return found[0]


def expand_custom(file: Path, arguments: Mapping[str, str], own: str) -> str:
    """Return the URDF of `file` with the `<ros2_control>` blocks of `own`, the robot's own URDF.

    The joints are in the order of `own`. Limits that a joint of `file` leaves out, or leaves at 0,
    are those of `own`, and so is the distance of its soft limits. A file with blocks of its own is
    a whole description: it gets `arguments`, and nothing of `own`.

    Raises ConfigError, naming file and joint: a joint of the blocks is missing or does not move, or
    one moves that no block has.
    """
    declared = robot_description.declared_arguments(file)
    chosen = {name: value for name, value in arguments.items() if name in declared}
    text = with_absolute_meshes(robot_description.expand(file, chosen), file)
    given = ElementTree.fromstring(text)
    if given.tag != "robot":
        raise ConfigError(f"{file}: root is <{given.tag}>, expected <robot>")
    if given.find(BLOCK) is not None:
        if missing := sorted(_SELECTORS - declared):
            raise ConfigError(
                f"{file}: it has <{BLOCK}> blocks, but no xacro argument {', '.join(missing)} that "
                "selects them: remove the blocks: the robot's own are used then"
            )
        return text
    whole = ElementTree.fromstring(own)
    _take_over_joints(given, whole, file)
    given.extend(whole.findall(BLOCK))
    return ElementTree.tostring(given, encoding="unicode")


def _path(text: str) -> Path:
    if not text.startswith(PACKAGE):
        return Path(text).expanduser().resolve()
    path = file_of_package(text)
    if path is None:
        package = text.removeprefix(PACKAGE).partition("/")[0]
        raise ConfigError(f"description {text}: package '{package}' is not installed")
    return path


def _take_over_joints(given: Element, own: Element, file: Path) -> None:
    """Check the joints of `given`, and put those of the blocks of `own` into its order."""
    known = {joint.get("name", ""): joint for joint in own.findall("joint")}
    joints = {joint.get("name", ""): joint for joint in given.findall("joint")}
    order = {name: number for number, name in enumerate(known)}
    claimed = sorted(
        (joint.get("name", "") for joint in own.findall(f"{BLOCK}/joint")),
        key=lambda name: order.get(name, len(order)),
    )
    _check_joints(joints, claimed, file)
    for name in claimed:
        given.remove(joints[name])
        given.append(joints[name])
        if name in known:
            _complete(joints[name], known[name])


def _check_joints(joints: Mapping[str, Element], claimed: list[str], file: Path) -> None:
    moving = [name for name, joint in joints.items() if joint.get("type") != _FIXED]
    spare = [name for name in moving if name not in claimed]
    if missing := [name for name in claimed if name not in joints]:
        raise ConfigError(
            f"{file}: no joint {', '.join(_with_hint(name, spare) for name in missing)}; the ones "
            f"that move are {', '.join(moving) or 'none'}: name them as the robot's "
            f"<{BLOCK}> blocks do"
        )
    for name in claimed:
        kind = joints[name].get("type", "")
        if kind != _MOVING:
            raise ConfigError(f"{file}: joint '{name}' is {kind}, expected {_MOVING}")
    if spare:
        raise ConfigError(
            f"{file}: joint {_listed(spare)} moves, but no <{BLOCK}> block of the robot has it: "
            f'make it type="{_FIXED}"'
        )


def _with_hint(name: str, spare: list[str]) -> str:
    close = get_close_matches(name, spare, n=1)
    return f"'{name}' (is it '{close[0]}'?)" if close else f"'{name}'"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f"'{name}'" for name in names)


def _complete(joint: Element, own: Element) -> None:
    """Add to a joint what an export leaves open, from the robot's own joint."""
    known = own.find("limit")
    if known is None:
        return
    limit = joint.find("limit")
    if limit is None:
        limit = ElementTree.SubElement(joint, "limit")
    open_ends = all(_is_open(limit, end) for end in _ENDS)
    for name in (*(_ENDS if open_ends else ()), "effort", "velocity"):
        if _is_open(limit, name):
            limit.set(name, known.get(name, ""))
    safety = own.find("safety_controller")
    if safety is not None and joint.find("safety_controller") is None:
        joint.append(_fitted_safety(safety, known, limit, f"joint '{joint.get('name')}'"))


def _fitted_safety(safety: Element, known: Element, limit: Element, where: str) -> Element:
    """Return a copy of `safety` that is as far inside `limit` as it was inside `known`."""
    soft = ElementTree.Element(safety.tag, safety.attrib)
    for end in _ENDS:
        key = f"soft_{end}_limit"
        if key in safety.attrib:
            here, there, old = (
                number(element.get(name, ""), f"{where}: {name}")
                for element, name in ((limit, end), (safety, key), (known, end))
            )
            soft.set(key, repr(here + there - old))
    return soft


def _is_open(limit: Element, name: str) -> bool:
    """Return True if an attribute is missing or 0: what CAD programs write for what they lack."""
    try:
        return float(limit.get(name, "0")) == 0.0
    except ValueError:
        return False  # the reader of the limits names it
