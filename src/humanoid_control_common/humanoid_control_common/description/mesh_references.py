"""Locate the mesh files that a robot description names.

A description that is passed on as text names meshes in a form that is valid anywhere on this
machine: `package://NAME/…` of an installed package, or `file:///…`. rviz reads both forms, too.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from humanoid_control_common.errors import ConfigError

PACKAGE: Final = "package://"
FILE: Final = "file://"
VISUAL: Final = "visual"
COLLISION: Final = "collision"
_FORMS: Final = "a path, package://NAME/PATH or file:///PATH"


class MeshError(ConfigError):
    """A mesh is missing or broken. The message names link and file."""


@dataclass(frozen=True, slots=True)
class MeshReference:
    """A `<mesh>` of a description."""

    link: str
    shape: str  # VISUAL or COLLISION
    element: Element

    @property
    def filename(self) -> str:
        """Return the reference of the description. Raises MeshError if there is none."""
        name = self.element.get("filename", "").strip()
        if not name:
            raise MeshError(f"{self.place}: <mesh> has no filename, expected {_FORMS}")
        return name

    @property
    def place(self) -> str:
        """Link and shape, for messages."""
        return f"link '{self.link}': {self.shape}"

    @property
    def scale(self) -> tuple[float, float, float]:
        """Factors along x, y and z. Raises MeshError unless they are three numbers, none 0."""
        text = self.element.get("scale", "1 1 1")
        try:
            x, y, z = (float(word) for word in text.split())
        except ValueError:
            x = y = z = 0.0
        if not all(0.0 < abs(factor) < float("inf") for factor in (x, y, z)):
            raise MeshError(
                f"{self.place}: mesh {self.filename}: scale is '{text}', "
                "expected three numbers, none of them 0"
            )
        return (x, y, z)


def mesh_references(robot: Element) -> Iterator[MeshReference]:
    """Yield every mesh of `robot`, the root of a description."""
    for link in robot.findall("link"):
        for shape in (VISUAL, COLLISION):
            for element in link.findall(f"{shape}/geometry/mesh"):
                yield MeshReference(link.get("name", ""), shape, element)


def with_absolute_meshes(urdf: str, source: Path) -> str:
    """Return `urdf`, read from the file `source`, with meshes named as this module describes.

    A relative path starts at the folder of `source`, or at that of `<mujoco><compiler meshdir=…/>`.
    `package://` of a package that is not installed is the package around `source`, if it has this
    name.

    Raises MeshError for a file that does not exist, with link, file and what was expected.
    """
    if "<mesh" not in urdf:
        return urdf
    robot = ElementTree.fromstring(urdf)
    for reference in mesh_references(robot):
        name = reference.filename
        path = _file(reference, name, source, robot.find("mujoco/compiler"))
        if not path.is_file():
            raise MeshError(_missing(reference, name, path))
        if not _is_installed(name):
            reference.element.set("filename", path.as_uri())
    return ElementTree.tostring(robot, encoding="unicode")


def mesh_path(reference: MeshReference) -> Path:
    """Return the file of a mesh in a description that `with_absolute_meshes` returned.

    Raises MeshError for another form of reference, and for a file that is not on this machine.
    """
    name = reference.filename
    if name.startswith(PACKAGE):
        path = file_of_package(name)
    elif name.startswith(FILE):
        path = _of_uri(name)
    else:
        raise MeshError(
            f"{reference.place}: mesh {name}: expected package:// or file://: the "
            "folder in which a path starts is unknown"
        )
    if path is None or not path.is_file():
        raise MeshError(f"{reference.place}: mesh {name}: it is not on this machine")
    return path


def _file(reference: MeshReference, name: str, source: Path, compiler: Element | None) -> Path:
    if name.startswith(PACKAGE):
        return file_of_package(name) or _around(reference, name, source)
    if name.startswith(FILE):
        return _of_uri(name)
    if "://" in name:
        raise MeshError(f"{reference.place}: mesh {name}: expected {_FORMS}")
    settings = {} if compiler is None else compiler.attrib
    folder = settings.get("meshdir", settings.get("assetdir"))
    if folder is None:
        return (source.parent / name).resolve()
    # MuJoCo's own rule: in a URDF it removes the folders of a name by default.
    kept = name if settings.get("strippath") == "false" else Path(name).name
    return (source.parent / folder / kept).resolve()


def _is_installed(name: str) -> bool:
    return name.startswith(PACKAGE) and file_of_package(name) is not None


def _of_uri(name: str) -> Path:
    return Path(unquote(name.removeprefix(FILE))).resolve()


def file_of_package(name: str) -> Path | None:
    """Return the path that `package://NAME/PATH` names; None if the package is not installed."""
    package, _, rest = name.removeprefix(PACKAGE).partition("/")
    try:
        return Path(get_package_share_directory(package)) / rest
    except (PackageNotFoundError, ValueError):  # ValueError: no name of a package
        return None


def _around(reference: MeshReference, name: str, source: Path) -> Path:
    """Return the file in the package that holds `source`: an export that was not built."""
    package, _, rest = name.removeprefix(PACKAGE).partition("/")
    folder = package_above(package, source)
    if folder is not None:
        return folder / rest
    raise MeshError(
        f"{reference.place}: mesh {name}: package '{package}' is not installed, and no folder "
        f"above {source} has this name: install it, or write a path that starts at {source.parent}"
    )


def package_above(package: str, source: Path) -> Path | None:
    """Return the folder above `source` that is `package`, by its name or its package.xml."""
    for folder in source.resolve().parents:
        if folder.name == package or _package_name(folder) == package:
            return folder
    return None


def _package_name(folder: Path) -> str | None:
    try:
        return ElementTree.parse(folder / "package.xml").getroot().findtext("name")
    except (OSError, ElementTree.ParseError):
        return None


def _missing(reference: MeshReference, name: str, path: Path) -> str:
    if not path.parent.is_dir():
        hint = f"there is no folder {path.parent}"
    else:
        names = sorted(file.name for file in path.parent.iterdir() if file.is_file())
        folded = [other for other in names if other.lower() == path.name.lower()]
        close = folded or get_close_matches(path.name, names)
        hint = f"the folder has {', '.join(close or names[:5]) or 'no files'}"
    return f"{reference.place}: mesh {name}: there is no file {path}; {hint}"
