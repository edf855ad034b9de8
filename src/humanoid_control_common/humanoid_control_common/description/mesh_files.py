"""Read the triangles and colours of mesh files: STL, OBJ and DAE (COLLADA)."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree
from zipfile import is_zipfile

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.description.mesh_references import (
    VISUAL,
    MeshError,
    MeshReference,
    mesh_path,
    mesh_references,
)

Rgba = tuple[float, float, float, float]  # 0 to 1
Vertices = NDArray[np.float64]  # [m], shape (n, 3)
Faces = NDArray[np.uint32]  # indices of vertices, counterclockwise from outside, shape (m, 3)

_MANY: Final = 100_000  # triangles, which a browser takes seconds to load
_ENOUGH: Final = 20_000  # triangles, which show any link well
_LFS: Final = b"version https://git-lfs"


@dataclass(frozen=True, slots=True)
class MeshPart:
    """The triangles of one colour. None: the file gives no colour."""

    vertices: Vertices
    faces: Faces
    rgba: Rgba | None = None


class Meshes:
    """The meshes of a description. Each file is read once."""

    def __init__(self) -> None:
        self._files: dict[Path, tuple[MeshPart, ...]] = {}

    def read(self, reference: MeshReference) -> tuple[MeshPart, ...]:
        """Return the parts of a mesh, scaled by the description.

        DAE: the file's unit is applied, its up axis is not, as in rviz. STL and OBJ are in metres.

        Raises MeshError with link, file, and what was expected.
        """
        path = mesh_path(reference)
        if path not in self._files:
            self._files[path] = _read(reference, path)
        scale = np.array(reference.scale)
        return tuple(_scaled(part, scale) for part in self._files[path])


def check_meshes(urdf: str, meshes: Meshes) -> list[str]:
    """Read every mesh of a description; return a warning for each that is much to draw.

    Raises MeshError for one that is missing or broken.
    """
    warnings = []
    for reference in mesh_references(ElementTree.fromstring(urdf)):
        count = sum(len(part.faces) for part in meshes.read(reference))
        if reference.shape == VISUAL and count > _MANY:
            warnings.append(
                f"{reference.place}: mesh {mesh_path(reference)}: {count} triangles: the viewer "
                f"loads all of them: export a coarser one, of {_ENOUGH} or fewer"
            )
    return warnings


def _read(reference: MeshReference, path: Path) -> tuple[MeshPart, ...]:
    where = f"{reference.place}: mesh {path}"
    read = _READERS.get(path.suffix.lower())
    if read is None:
        raise MeshError(f"{where}: expected a file that ends in {', '.join(_READERS)}")
    try:
        parts = [part for part in read(path) if len(part.faces)]
    # Foreign readers raise whatever a broken file makes of them.
    except Exception as error:
        raise MeshError(f"{where}: {_broken(path)} ({_one_line(error)})") from error
    if not parts:
        raise MeshError(f"{where}: {_broken(path)} (no triangle found)")
    for part in parts:
        if not np.isfinite(part.vertices).all() or part.faces.max() >= len(part.vertices):
            raise MeshError(f"{where}: {_broken(path)} (a vertex is missing or not finite)")
    return tuple(parts)


def _scaled(part: MeshPart, scale: NDArray[np.float64]) -> MeshPart:
    mirrored = np.prod(scale) < 0.0
    # A mirror turns triangles inside out.
    faces = np.ascontiguousarray(part.faces[:, ::-1]) if mirrored else part.faces
    return replace(part, vertices=part.vertices * scale, faces=faces)


def _broken(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(len(_LFS))
    if head == _LFS:
        return "it is a pointer of Git LFS, expected the mesh: run `git lfs pull`"
    kind = path.suffix.lower().removeprefix(".").upper()
    if not head:
        return f"it is empty, expected a {kind} file"
    return f"it is broken, expected a {kind} file: export it again"


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__


def _read_by_trimesh(path: Path) -> Iterator[MeshPart]:
    import trimesh

    logging.getLogger("trimesh").setLevel(logging.ERROR)
    scene = trimesh.load_scene(str(path), process=False)
    for name in scene.geometry:
        geometry = scene.geometry[name]
        if isinstance(geometry, trimesh.Trimesh):
            yield MeshPart(
                np.asarray(geometry.vertices, dtype=np.float64),
                np.asarray(geometry.faces, dtype=np.uint32),
                _colour(geometry.visual),
            )


def _colour(visual: Any) -> Rgba | None:
    """Return the colour of the material; None without material, and for a picture."""
    material = getattr(visual, "material", None)
    if material is None or getattr(material, "image", None) is not None:
        return None
    diffuse = getattr(material, "diffuse", None)
    if diffuse is None:
        return None
    r, g, b, a = (float(channel) / 255.0 for channel in diffuse)
    return (r, g, b, a)


def _read_collada(path: Path) -> Iterator[MeshPart]:
    import collada

    if is_zipfile(path):  # the reader would unpack it, however large the content is
        raise MeshError("it is a ZIP archive")
    document = collada.Collada(str(path), ignore=[collada.common.DaeUnsupportedError])
    unit = document.assetInfo.unitmeter or 1.0  # [m]
    if document.scene is None:
        return
    for bound in document.scene.objects("geometry"):
        for primitive in bound.primitives():
            triangles = _triangles(primitive)
            if triangles is not None and triangles.vertex is not None:
                yield MeshPart(
                    np.asarray(triangles.vertex, dtype=np.float64) * unit,
                    np.asarray(triangles.vertex_index, dtype=np.uint32).reshape(-1, 3),
                    _effect_colour(triangles.material),
                )


def _triangles(primitive: Any) -> Any:
    """Return the primitive as triangles; None for lines."""
    from collada.triangleset import BoundTriangleSet

    if hasattr(primitive, "triangleset"):  # polygons
        return primitive.triangleset()
    return primitive if isinstance(primitive, BoundTriangleSet) else None


def _effect_colour(material: Any) -> Rgba | None:
    diffuse = getattr(getattr(material, "effect", None), "diffuse", None)
    if not isinstance(diffuse, tuple) or len(diffuse) != 4:  # else a picture
        return None
    r, g, b, a = (float(channel) for channel in diffuse)
    return (r, g, b, a)


_READERS: Final[dict[str, Callable[[Path], Iterator[MeshPart]]]] = {
    ".stl": _read_by_trimesh,
    ".obj": _read_by_trimesh,
    ".dae": _read_collada,
}
