"""Read a RobotModel from a URDF. Errors name the malformed element."""

import logging
import math
from collections.abc import Iterator, Mapping, Sequence
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from humanoid_control_common.description.mesh_files import Meshes
from humanoid_control_common.description.mesh_references import VISUAL, MeshError, MeshReference
from humanoid_control_common.description.numbers import numbers, placed
from humanoid_control_common.description.tree import check_tree
from humanoid_control_common.errors import ConfigError
from humanoid_viz.state.model import (
    Box,
    Cylinder,
    Joint,
    JointKind,
    Mesh,
    Pose,
    RobotModel,
    Shape,
    Sphere,
    Vector,
    Visual,
    rotation_from_rpy,
)

LOG = logging.getLogger(__name__)

Rgba = tuple[float, float, float, float]

UNCOLOURED: Rgba = (0.7, 0.7, 0.7, 1.0)
# Joint types of the URDF specification; floating and planar ones have no single position to show.
KINDS = {
    "fixed": JointKind.FIXED,
    "floating": JointKind.FIXED,
    "planar": JointKind.FIXED,
    "revolute": JointKind.TURNING,
    "continuous": JointKind.TURNING,
    "prismatic": JointKind.SLIDING,
}


def parse_urdf(text: str) -> RobotModel:
    """Return the robot described by `text`.

    A link with a mesh that can't be read is in `not_drawn`, and the log has the reason: the files
    may
    be on the robot's machine.

    Raises ConfigError: not XML, no <robot>, a name missing or given twice, a link that does not
    exist, links that form no tree, a malformed number.
    """
    robot = _robot_element(text)
    check_tree(robot)
    meshes = Meshes()
    links = {link.get("name", ""): link for link in robot.findall("link")}
    materials: dict[str, Rgba] = {}
    for material in robot.iter("material"):  # those inside links are global too
        if (rgba := _rgba(material)) is not None:
            materials.setdefault(material.get("name", ""), rgba)
    joints = [_joint(element) for element in robot.findall("joint")]
    root, ordered = _ordered(tuple(links), joints)
    not_drawn: list[str] = []
    return RobotModel(
        name=robot.get("name", ""),
        root=root,
        visuals={
            name: tuple(_visuals(link, name, materials, meshes, not_drawn))
            for name, link in links.items()
        },
        joints=ordered,
        not_drawn=tuple(not_drawn),
    )


def _robot_element(text: str) -> Element:
    try:
        robot = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise ConfigError(f"robot description is not valid XML: {error}") from error
    if robot.tag != "robot":
        raise ConfigError(f"robot description: root is <{robot.tag}>, expected <robot>")
    return robot


def _joint(element: Element) -> Joint:
    name = element.get("name", "")
    where = f"joint '{name}'"
    kind = element.get("type", "")
    if kind not in KINDS:
        raise ConfigError(f"{where}: type is '{kind}', expected one of {', '.join(KINDS)}")
    ends = [_attribute(element, tag, "link", where) for tag in ("parent", "child")]
    axis = element.find("axis")
    x, y, z = (
        (1.0, 0.0, 0.0) if axis is None else _vector(axis.get("xyz", "1 0 0"), f"{where}: axis")
    )
    length = math.hypot(x, y, z) or 1.0  # a fixed joint may have no axis
    return Joint(
        name=name,
        kind=KINDS[kind],
        parent=ends[0],
        child=ends[1],
        origin=_origin(element, where),
        axis=(x / length, y / length, z / length),
    )


def _ordered(links: Sequence[str], joints: Sequence[Joint]) -> tuple[str, tuple[Joint, ...]]:
    """Return the root link, and the joints, each after those that carry it."""
    carried = {joint.child for joint in joints}
    reached = [link for link in links if link not in carried]
    ordered: list[Joint] = []
    for link in reached:
        children = [joint for joint in joints if joint.parent == link]
        ordered += children
        reached += [joint.child for joint in children]
    return reached[0], tuple(ordered)


def _visuals(
    link: Element,
    name: str,
    materials: Mapping[str, Rgba],
    meshes: Meshes,
    not_drawn: list[str],
) -> Iterator[Visual]:
    """Yield the shapes of a link; append it to `not_drawn` if one is a mesh that can't be read."""
    for element in link.findall("visual"):
        where = f"link '{name}': visual"
        geometry = element.find("geometry")
        if geometry is None or len(geometry) != 1:
            raise ConfigError(f"{where}: expected one <geometry> with one shape")
        pose = _origin(element, where)
        rgba = _material(element.find("material"), materials, where)
        if geometry[0].tag != "mesh":
            yield Visual(pose, _shape(geometry[0], where), rgba)
            continue
        try:
            parts = meshes.read(MeshReference(name, VISUAL, geometry[0]))
        except MeshError as error:
            LOG.warning("not drawn: %s", error)
            not_drawn.append(name)
            continue
        for part in parts:  # the colour of a mesh comes before that of the link, as in rviz
            yield Visual(pose, Mesh(part.vertices, part.faces), part.rgba or rgba)


def _shape(element: Element, where: str) -> Shape:
    where = f"{where}: {element.tag}"
    match element.tag:
        case "box":
            return Box(_vector(element.get("size", ""), f"{where} size"))
        case "cylinder":
            return Cylinder(_length(element, "radius", where), _length(element, "length", where))
        case "sphere":
            return Sphere(_length(element, "radius", where))
    raise ConfigError(f"{where}: expected box, cylinder, sphere or mesh")


def _material(element: Element | None, materials: Mapping[str, Rgba], where: str) -> Rgba:
    if element is None:
        return UNCOLOURED
    own = _rgba(element)
    if own is not None:
        return own
    name = element.get("name", "")
    if name not in materials:
        raise ConfigError(f"{where}: there is no material '{name}'")
    return materials[name]


def _rgba(material: Element) -> Rgba | None:
    colour = material.find("color")
    if colour is None:
        # A texture is no colour, but the name is known.
        return UNCOLOURED if material.find("texture") is not None else None
    where = f"material '{material.get('name', '')}': rgba"
    r, g, b, a = numbers(colour.get("rgba", ""), 4, where).tolist()
    return (r, g, b, a)


def _origin(element: Element, where: str) -> Pose:
    position, angles = placed(element, where)
    x, y, z = position.tolist()
    return Pose((x, y, z), rotation_from_rpy(*angles.tolist()))


def _attribute(element: Element, tag: str, name: str, where: str) -> str:
    child = element.find(tag)
    value = None if child is None else child.get(name)
    if not value:
        raise ConfigError(f"{where}: no <{tag} {name}=...>")
    return value


def _length(element: Element, name: str, where: str) -> float:
    return float(numbers(element.get(name, ""), 1, f"{where} {name}")[0])


def _vector(text: str, where: str) -> Vector:
    x, y, z = numbers(text, 3, where).tolist()
    return (x, y, z)
