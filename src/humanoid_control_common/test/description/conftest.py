"""The arm of docs/examples, whose meshes are an STL, an OBJ and a DAE, and copies to break."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest

from humanoid_control_common.description.mesh_files import Meshes, MeshPart
from humanoid_control_common.description.mesh_references import (
    mesh_references,
    with_absolute_meshes,
)

MESH_ARM = Path(__file__).resolve().parents[4] / "docs/examples/mesh_arm"


class Export:
    """A copy of the arm: a folder to change."""

    def __init__(self, folder: Path) -> None:
        self.meshes = folder / "meshes"
        self.file = folder / "urdf/mesh_arm.urdf"

    def replace(self, old: str, new: str) -> None:
        text = self.file.read_text()
        assert old in text
        self.file.write_text(text.replace(old, new))

    def urdf(self) -> str:
        return with_absolute_meshes(self.file.read_text(), self.file)

    def read(self, shape: str = "collision") -> dict[str, tuple[MeshPart, ...]]:
        """The parts of each link's mesh."""
        robot = ElementTree.fromstring(self.urdf())
        return {it.link: Meshes().read(it) for it in mesh_references(robot) if it.shape == shape}


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """A copy of the arm in a folder of its name."""
    shutil.copytree(MESH_ARM, tmp_path / "mesh_arm")
    return Export(tmp_path / "mesh_arm")
