"""References of meshes lead to files, and a missing file is named."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from humanoid_control_common.description.mesh_references import (
    MeshError,
    mesh_path,
    mesh_references,
    with_absolute_meshes,
)

ONE = '<robot name="r"><link name="hand"><visual><geometry>{}</geometry></visual></link></robot>'
STL = "solid a\nendsolid a\n"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A description's file in a folder `urdf`, beside a folder `meshes` with `a.stl`."""
    for folder in ("urdf", "meshes"):
        (tmp_path / folder).mkdir()
    (tmp_path / "meshes/a.stl").write_text(STL)
    (tmp_path / "urdf/hand.urdf").write_text(STL)
    return tmp_path / "urdf/hand.urdf"


def found(source: Path, filename: str, extension: str = "") -> Path:
    urdf = ONE.format(f'<mesh filename="{filename}"/>').replace("</robot>", extension + "</robot>")
    robot = ElementTree.fromstring(with_absolute_meshes(urdf, source))
    return mesh_path(next(mesh_references(robot)))


def test_a_relative_path_starts_at_the_descriptions_folder(source: Path) -> None:
    assert found(source, "../meshes/a.stl") == source.parents[1] / "meshes/a.stl"


def test_a_file_uri_may_have_spaces(source: Path) -> None:
    spaced = source.parents[1] / "my meshes"
    spaced.mkdir()
    (spaced / "a b.stl").write_text(STL)
    assert found(source, (spaced / "a b.stl").as_uri()) == spaced / "a b.stl"
    assert found(source, f"file://{spaced}/a b.stl") == spaced / "a b.stl"
    assert found(source, "../my meshes/a b.stl") == spaced / "a b.stl"


def test_a_package_uri_of_an_installed_package_stays_for_other_programs() -> None:
    name = "package://humanoid_control_common/package.xml"
    urdf = with_absolute_meshes(ONE.format(f'<mesh filename="{name}"/>'), Path("/nowhere/r.urdf"))
    assert name in urdf
    (reference,) = mesh_references(ElementTree.fromstring(urdf))
    assert mesh_path(reference).name == "package.xml"
    assert mesh_path(reference).is_file()


@pytest.mark.parametrize("by", ["folder", "package.xml"])
def test_a_package_that_is_not_installed_is_the_one_around_the_description(
    source: Path, by: str
) -> None:
    name = source.parents[1].name
    if by == "package.xml":
        name = "the_export"
        text = f"<package><name>{name}</name></package>"
        (source.parents[1] / "package.xml").write_text(text)
    assert found(source, f"package://{name}/meshes/a.stl") == source.parents[1] / "meshes/a.stl"


@pytest.mark.parametrize(
    ("compiler", "filename"),
    [
        ('meshdir="../meshes"', "a.stl"),
        ('meshdir="../meshes"', "elsewhere/a.stl"),
        ('assetdir="../meshes"', "a.stl"),
        ('meshdir=".." strippath="false"', "meshes/a.stl"),
    ],
)
def test_mujocos_own_folder_for_meshes_counts(source: Path, compiler: str, filename: str) -> None:
    extension = f"<mujoco><compiler {compiler}/></mujoco>"
    assert found(source, filename, extension) == source.parents[1] / "meshes/a.stl"


def test_a_description_without_meshes_stays_as_it_is() -> None:
    text = ONE.format('<box size="1 1 1"/>') + "\n"
    assert with_absolute_meshes(text, Path("/nowhere/r.urdf")) is text


@pytest.mark.parametrize(
    ("filename", "message"),
    [
        ("", "<mesh> has no filename, expected a path, package://"),
        ("../meshes/b.stl", r"there is no file .*/meshes/b\.stl; the folder has a\.stl"),
        ("../meshes/A.STL", r"there is no file .*/meshes/A\.STL; the folder has a\.stl"),
        ("../parts/a.stl", "there is no folder .*/parts"),
        ("file:///nowhere/a.stl", "there is no file /nowhere/a.stl; there is no folder /nowhere"),
        ("package://absent/a.stl", "package 'absent' is not installed, and no folder above"),
        ("http://example.com/a.stl", "expected a path, package://NAME/PATH or file:///PATH"),
    ],
)
def test_a_missing_mesh_is_named_with_its_link(source: Path, filename: str, message: str) -> None:
    with pytest.raises(MeshError, match=r"^link 'hand': visual: .*" + message):
        found(source, filename)


def test_a_reader_of_a_published_description_assumes_no_folder(source: Path) -> None:
    (reference,) = mesh_references(
        ElementTree.fromstring(ONE.format('<mesh filename="../meshes/a.stl"/>'))
    )
    with pytest.raises(MeshError, match=re.escape("../meshes/a.stl: expected package:// or file")):
        mesh_path(reference)


def test_a_mesh_that_is_on_another_machine_only_is_named() -> None:
    (reference,) = mesh_references(
        ElementTree.fromstring(ONE.format('<mesh filename="file:///nowhere/a.stl"/>'))
    )
    with pytest.raises(MeshError, match=r"'hand': visual: mesh file:///nowhere/a\.stl: it is"):
        mesh_path(reference)
