"""Find impossible and unlikely masses and inertias of a description: mistakes of an export."""

from collections.abc import Iterator
from typing import Final
from xml.etree.ElementTree import Element

import numpy as np

from humanoid_control_common.description.mesh_files import Meshes
from humanoid_control_common.description.mesh_references import COLLISION, VISUAL, MeshReference
from humanoid_control_common.description.numbers import numbers, placed
from humanoid_control_common.description.tree import massless
from humanoid_control_common.errors import ConfigError, of_each
from humanoid_control_common.robot.joints import FloatArray

LARGEST: Final = 1e6  # [kg, kg m²], far beyond every robot: no computation overflows
_TENSOR: Final = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
# Of the largest principal inertia: rounding in the export.
_ROUNDING: Final = 1e-6
# Of the span of a link's shapes. A slender rod has a radius of gyration of 0.29, a sphere of 0.32,
# and nothing has more than 1. The lower bound leaves room for a heavy part in a long shell.
_LEAST_GYRATION: Final = 0.02
_MOST_GYRATION: Final = 1.0


def check_inertias(robot: Element, meshes: Meshes, *, simulated: bool = True) -> list[str]:
    """Return a warning for each link of `robot` whose mass or inertia does not fit its shapes.

    `robot` is the root of a description.

    Raises ConfigError, naming the link, for impossible values, and, where it is `simulated`, for a
    joint that moves no mass: MuJoCo would refuse them too, or replace them (`balanceinertia`).
    """
    compiler = robot.find("mujoco/compiler")
    settings = {} if compiler is None else compiler.attrib
    if settings.get("inertiafromgeom") == "true":
        return []
    links = robot.findall("link")
    balanced = settings.get("balanceinertia") == "true"
    warnings = of_each(lambda link: list(_of_link(link, meshes, balanced=balanced)), links)
    if simulated and settings.get("inertiafromgeom", "false") == "false":
        heavy = {link.get("name", "") for link in links if _has_mass(link)}
        if found := massless(robot, heavy):
            texts = (f"joint '{joint}': its link '{link}'" for joint, link in found)
            raise ConfigError(
                f"{'; '.join(texts)} has no <inertial> with a mass, nor has a link fixed to it: "
                "set a material in CAD and export again"
            )
    return [text for texts in warnings for text in texts]


def _has_mass(link: Element) -> bool:
    inertial = link.find("inertial")
    return inertial is not None and _value(inertial, "mass", "value", _name(link)) > 0.0


def _name(link: Element) -> str:
    return f"link '{link.get('name', '')}'"


def _of_link(link: Element, meshes: Meshes, *, balanced: bool) -> Iterator[str]:
    where = _name(link)
    inertial = link.find("inertial")
    corners = _corners(link, meshes)
    if inertial is None:
        if corners is not None:
            yield f"{where}: it has shapes but no <inertial>, so it weighs nothing"
        return
    centre, _ = placed(inertial, f"{where}: <inertial>")
    mass = _value(inertial, "mass", "value", where)
    tensor = _tensor(inertial, where)
    moments = np.linalg.eigvalsh(tensor).astype(np.float64)  # in rising order
    if mass == 0.0 and not tensor.any():
        return  # a frame
    if mass <= 0.0:
        raise ConfigError(f"{where}: mass is {mass:g} kg, expected more than 0")
    if moments[0] <= 0.0:
        raise ConfigError(
            f"{where}: principal inertias are {_listed(moments)} kg m², expected more than 0: the "
            "export gives none, or rounds it to 0"
        )
    if moments[2] > (moments[0] + moments[1]) * (1.0 + _ROUNDING) and not balanced:
        raise ConfigError(
            f"{where}: principal inertias are {_listed(moments)} kg m²: no body has one above the "
            "sum of the two others: correct the export, or let MuJoCo replace them by their mean: "
            '<mujoco><compiler balanceinertia="true"/></mujoco> in the URDF'
        )
    if corners is not None:
        yield from _against_shapes(where, centre, np.sqrt(moments[2] / mass), corners)


def _against_shapes(
    where: str, centre: FloatArray, gyration: float, corners: FloatArray
) -> Iterator[str]:
    low, high = corners.min(axis=0), corners.max(axis=0)
    size = float(np.linalg.norm(high - low))
    if not _LEAST_GYRATION * size <= gyration <= _MOST_GYRATION * size:
        yield (
            f"{where}: its inertia is that of a mass {gyration:.3g} m around the centre, its "
            f"shapes span {size:.3g} m: check the units of the export (kg m²)"
        )
    outside = np.maximum(low - centre, centre - high).max()
    if outside > 0.1 * size:
        yield (
            f"{where}: its centre of mass ({_listed(centre)}) m is {outside:.3g} m outside its "
            "shapes: check units and frame of the export"
        )


def _corners(link: Element, meshes: Meshes) -> FloatArray | None:
    """Return corners of boxes around the link's shapes [m], shape (n, 3), in its frame.

    The collision shapes, or the visual ones if there are no others; None without shapes.
    """
    where = _name(link)
    found: list[FloatArray] = []
    for shape in (COLLISION, VISUAL):
        for element in link.findall(shape) if not found else ():
            geometry = _shape(element, f"{where}: {shape}")
            position, rotation = _pose(element, f"{where}: {shape}")
            reference = MeshReference(link.get("name", ""), shape, geometry)
            low, high = _box(geometry, reference, meshes)
            box = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T
            found.append(box @ rotation.T + position)
    return np.concatenate(found) if found else None


def _shape(element: Element, where: str) -> Element:
    """Return the one shape of a collision or a visual: MuJoCo would ignore others."""
    found = element.findall("geometry/*")
    if len(found) != 1 or len(element.findall("geometry")) != 1:
        names = ", ".join(shape.tag for shape in found) or "none"
        raise ConfigError(f"{where}: expected one <geometry> with one shape, found {names}")
    return found[0]


def _box(
    geometry: Element, reference: MeshReference, meshes: Meshes
) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest corner of the box around a shape, in the shape's frame."""
    where = reference.place
    match geometry.tag:
        case "box":
            half = _sizes(geometry, "size", 3, where) / 2
        case "sphere":
            half = np.full(3, _sizes(geometry, "radius", 1, where)[0])
        case "cylinder":
            (radius,) = _sizes(geometry, "radius", 1, where)
            (length,) = _sizes(geometry, "length", 1, where)
            half = np.array([radius, radius, length / 2])
        case "mesh":
            vertices = np.concatenate([part.vertices for part in meshes.read(reference)])
            return vertices.min(axis=0), vertices.max(axis=0)
        case other:
            raise ConfigError(f"{where}: {other}: expected box, cylinder, sphere or mesh")
    return -half, half


def _sizes(geometry: Element, name: str, count: int, where: str) -> FloatArray:
    text = geometry.get(name, "")
    place = f"{where}: {geometry.tag} {name}"
    found = numbers(text, count, place)
    if not (found > 0.0).all():
        raise ConfigError(f"{place} is '{text}', expected more than 0")
    return found


def _tensor(inertial: Element, where: str) -> FloatArray:
    ixx, iyy, izz, ixy, ixz, iyz = (_value(inertial, "inertia", it, where) for it in _TENSOR)
    return np.array([[ixx, ixy, ixz], [ixy, iyy, iyz], [ixz, iyz, izz]])


def _value(inertial: Element, tag: str, name: str, where: str) -> float:
    element = inertial.find(tag)
    text = "" if element is None else element.get(name, "")
    place = f"{where}: <inertial><{tag} {name}>"
    (value,) = numbers(text, 1, place)
    if abs(value) > LARGEST:
        raise ConfigError(f"{place}: found {value:g}, expected at most {LARGEST:g}")
    return float(value)


def _pose(element: Element, where: str) -> tuple[FloatArray, FloatArray]:
    """Return position [m] and rotation matrix of `<origin>`."""
    position, (roll, pitch, yaw) = placed(element, where)
    return position, _turn(2, yaw) @ _turn(1, pitch) @ _turn(0, roll)


def _turn(axis: int, angle: float) -> FloatArray:
    """Return the matrix of a turn by `angle` [rad] about x, y or z."""
    matrix = np.eye(3)
    one, other = (axis + 1) % 3, (axis + 2) % 3
    matrix[one, one] = matrix[other, other] = np.cos(angle)
    matrix[other, one] = np.sin(angle)
    matrix[one, other] = -matrix[other, one]
    return matrix


def _listed(values: FloatArray) -> str:
    return ", ".join(f"{value:.3g}" for value in values)
