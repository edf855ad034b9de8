"""A robot description in the form that MuJoCo reads: with its meshes and its defaults.

MuJoCo supports no `package://` and no DAE, so it gets every mesh as a file in memory.
"""

from dataclasses import dataclass
from typing import Any, Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import numpy as np

from humanoid_control_common.description.inertias import check_inertias
from humanoid_control_common.description.mesh_files import Meshes, MeshPart
from humanoid_control_common.description.mesh_references import (
    MeshError,
    MeshReference,
    mesh_references,
)
from humanoid_control_common.description.motion import check_motion
from humanoid_control_common.description.tree import check_tree
from humanoid_control_common.errors import ConfigError

# MuJoCo reads no more from an STL file: MAXFACE in its user_mesh.cc.
_MOST_TRIANGLES: Final = 200_000
_STL: Final = np.dtype([("normal", "<f4", 3), ("vertices", "<f4", (3, 3)), ("attribute", "<u2")])
_HEADER: Final = bytes(80)
# Where meshes are is decided before; a name in memory has no folder.
_FOLDERS: Final = ("meshdir", "assetdir", "strippath")


@dataclass(frozen=True, slots=True)
class MujocoInput:
    """A description for mujoco.MjSpec.from_string."""

    urdf: str
    meshes: dict[str, bytes]  # files in memory, by the names in `urdf`
    warnings: tuple[str, ...]  # of links whose mass hardly fits their shapes


def mujoco_input(urdf: str, meshes: Meshes | None = None) -> MujocoInput:
    """Return `urdf` for MuJoCo.

    `<mujoco><compiler>`, `<option>` and `<size>` of the description apply. Where it gives no
    `inertiafromgeom`, a link without `<inertial>` is massless, as in any URDF: MuJoCo would guess
    its mass from its shape. Visual shapes are left out, unless `discardvisual="false"`.

    `meshes` are those that were read already, if any.

    Raises ConfigError for a text that is not XML, links and joints that are no tree, figures that
    are not finite, a time step (the simulation has its own), impossible shapes and masses;
    MeshError for a mesh that is missing, broken, flat or too large.
    """
    try:
        robot = ElementTree.fromstring(urdf)
    except ElementTree.ParseError as error:
        raise ConfigError(f"robot description: not valid XML: {error}") from error
    meshes = meshes or Meshes()
    check_tree(robot)
    check_motion(robot)
    compiler = _compiler(robot)
    for name in _FOLDERS:
        compiler.attrib.pop(name, None)
    compiler.attrib.setdefault("inertiafromgeom", "false")
    if compiler.get("discardvisual") != "false":
        for link in robot.findall("link"):
            for visual in link.findall("visual"):
                link.remove(visual)
    warnings = tuple(check_inertias(robot, meshes))
    files: dict[str, bytes] = {}
    for number, reference in enumerate(mesh_references(robot)):
        # MuJoCo's own messages show the name.
        name = f"{reference.link.replace('/', '_')}_{reference.shape}_{number}.stl"
        files[name] = _stl(reference, meshes.read(reference))
        reference.element.set("filename", name)
        reference.element.attrib.pop("scale", None)
    return MujocoInput(ElementTree.tostring(robot, encoding="unicode"), files, warnings)


def in_one_line(error: ValueError) -> str:
    """Return MuJoCo's message about an input that it refuses."""
    return "; ".join(line for line in str(error).splitlines() if line.strip())


def exclude_neighbours(spec: Any) -> None:
    """Exclude collisions of each link of `spec`, a MjSpec, with the fixed link that carries it.

    MuJoCo itself excludes collisions of the two links of a joint unless one of them is fixed, and
    shapes from CAD overlap at their joint. All fixed links are one body for MuJoCo, the world,
    unless the description has `fusestatic="false"`.
    """
    for body in spec.bodies:
        if body.joints and not _moves(body.parent):
            carrier = "world" if spec.compiler.fusestatic else body.parent.name
            spec.add_exclude(bodyname1=carrier, bodyname2=body.name)


def _moves(body: Any) -> bool:
    return body is not None and (bool(body.joints) or _moves(body.parent))


def _compiler(robot: Element) -> Element:
    """Return `<mujoco><compiler>`, made if needed."""
    extension = robot.find("mujoco")
    if extension is None:
        extension = ElementTree.SubElement(robot, "mujoco")
    option = extension.find("option")
    if option is not None and "timestep" in option.attrib:
        raise ConfigError(
            "robot description: <mujoco><option timestep=…>: remove it: the time step of the "
            "simulation is the parameter 'timestep' of the <ros2_control> block"
        )
    compiler = extension.find("compiler")
    return ElementTree.SubElement(extension, "compiler") if compiler is None else compiler


def _stl(reference: MeshReference, parts: tuple[MeshPart, ...]) -> bytes:
    corners = np.concatenate([part.vertices[part.faces] for part in parts])
    where = f"{reference.place}: mesh {reference.filename}"
    if len(corners) > _MOST_TRIANGLES:
        raise MeshError(
            f"{where}: {len(corners)} triangles, expected at most {_MOST_TRIANGLES}: export a "
            "coarser mesh for the collision: MuJoCo uses its convex hull only"
        )
    points = corners.reshape(-1, 3)
    extents = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    if extents[2] < 1e-6 * extents[0]:
        raise MeshError(
            f"{where}: it is flat, expected a solid: MuJoCo needs a volume to collide with"
        )
    triangles = np.zeros(len(corners), dtype=_STL)
    triangles["vertices"] = corners
    return _HEADER + np.uint32(len(corners)).tobytes() + triangles.tobytes()
