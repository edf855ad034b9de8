"""Contents of STL, OBJ and DAE files, and the messages for broken ones."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from humanoid_control_common.description.mesh_files import Meshes, MeshPart, check_meshes
from humanoid_control_common.description.mesh_references import (
    MeshError,
    mesh_path,
    mesh_references,
)

# Lowest and highest corner of each link's mesh [m]: an STL in mm, an OBJ in m, a DAE in cm.
BOXES = {
    "base_link": ([-0.1, -0.1, 0.0], [0.1, 0.1, 0.05]),
    "upper_arm_link": ([-0.03, -0.03, -0.02], [0.03, 0.03, 0.28]),
    "forearm_link": ([-0.025, -0.025, 0.0], [0.025, 0.025, 0.24]),
}
ORANGE, BLUE = (1.0, 0.5, 0.1, 1.0), (0.05, 0.35, 0.7, 1.0)


def volume(parts: tuple[MeshPart, ...]) -> float:
    """Return the volume of closed triangles [m³]; negative if they are inside out."""
    corners = np.concatenate([part.vertices[part.faces] for part in parts])
    return float(np.einsum("ij,ij->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0)


def test_the_three_formats_have_the_size_and_place_of_the_drawing(export: Any) -> None:
    for link, parts in export.read().items():
        low, high = BOXES[link]
        vertices = np.concatenate([part.vertices for part in parts])
        assert vertices.min(axis=0) == pytest.approx(low, abs=1e-6)
        assert vertices.max(axis=0) == pytest.approx(high, abs=1e-6)


def test_triangles_face_outwards_and_enclose_the_boxes_volumes(export: Any) -> None:
    found = {link: volume(parts) for link, parts in export.read().items()}
    assert found == pytest.approx(
        {
            "base_link": 0.2 * 0.2 * 0.05,
            "upper_arm_link": 0.06 * 0.06 * 0.3,
            "forearm_link": 0.05 * 0.05 * 0.22 + 0.02**3,
        },
        rel=1e-5,
    )


def test_a_mirrored_mesh_still_faces_outwards(export: Any) -> None:
    export.replace('scale="0.001 0.001 0.001"', 'scale="0.001 -0.001 0.001"')
    assert volume(export.read()["base_link"]) == pytest.approx(0.002, rel=1e-5)


def test_materials_of_obj_and_dae_give_colours_and_stl_gives_none(export: Any) -> None:
    colours = {link: [part.rgba for part in parts] for link, parts in export.read().items()}
    assert colours["base_link"] == [None]
    assert colours["upper_arm_link"] == [pytest.approx(ORANGE, abs=0.005)]
    assert colours["forearm_link"] == [pytest.approx(BLUE), pytest.approx(ORANGE)]


def test_a_dae_may_have_lines_and_polygons(export: Any) -> None:
    path = export.meshes / "forearm.dae"
    text = path.read_text()
    start, end = text.index("<triangles"), text.index("</triangles>")
    source = '<input semantic="VERTEX" source="#shell-vertices" offset="0"/>'
    quads = "0 1 3 2 4 6 7 5 0 4 5 1 2 3 7 6 0 2 6 4 1 5 7 3"
    polygons = (
        f'<lines count="1">{source}<p>0 7</p></lines>'
        f'<polylist count="6" material="blue">{source}<vcount>4 4 4 4 4 4</vcount><p>{quads}</p>'
    )
    path.write_text(text[:start] + polygons + text[end:].replace("</triangles>", "</polylist>", 1))
    parts = export.read()["forearm_link"]
    assert [len(part.faces) for part in parts] == [12, 12]
    assert volume(parts) == pytest.approx(0.05 * 0.05 * 0.22 + 0.02**3, rel=1e-5)
    assert parts[0].rgba == pytest.approx(BLUE)


def test_an_obj_without_its_materials_has_no_colour(export: Any) -> None:
    (export.meshes / "upper_arm.mtl").unlink()
    (part,) = export.read()["upper_arm_link"]
    assert part.rgba is None


def test_a_binary_stl_is_that_of_its_text(export: Any) -> None:
    path = export.meshes / "base.stl"
    (text,) = export.read()["base_link"]
    triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])
    triangles = np.zeros(len(text.faces), dtype=triangle)
    triangles["corners"] = text.vertices[text.faces] * 1000.0
    path.write_bytes(bytes(80) + np.uint32(len(triangles)).tobytes() + triangles.tobytes())
    (binary,) = export.read()["base_link"]
    assert binary.vertices[binary.faces] == pytest.approx(text.vertices[text.faces], abs=1e-7)


BROKEN = {
    "empty": (lambda data: b"", "it is empty, expected a {} file"),
    "cut off": (lambda data: data[: len(data) // 3], "it is broken, expected a {} file: export"),
    "something else": (lambda data: b"\x00\xff\xfe" * 99, "it is broken, expected a {} file"),
    "pointer": (
        lambda data: b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n",
        "it is a pointer of Git LFS, expected the mesh: run `git lfs pull`",
    ),
}
FILES = {"base_link": "base.stl", "upper_arm_link": "upper_arm.obj", "forearm_link": "forearm.dae"}


@pytest.mark.parametrize(("damage", "message"), BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("link", FILES)
def test_a_broken_file_is_named_with_its_link(
    export: Any, link: str, damage: Any, message: str
) -> None:
    path = export.meshes / FILES[link]
    path.write_bytes(damage(path.read_bytes()))
    kind = path.suffix[1:].upper()
    with pytest.raises(MeshError, match=f"^link '{link}': collision: mesh {path}: ") as caught:
        export.read()
    assert message.format(kind) in str(caught.value)


@pytest.mark.parametrize(
    "text", ["v 0 0 0\nv 1 0 0\nv nan 1 0\nf 1 2 3\n", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n"]
)
def test_triangles_without_a_place_are_no_mesh(export: Any, text: str) -> None:
    (export.meshes / "upper_arm.obj").write_text(text)
    with pytest.raises(MeshError, match=r"^link 'upper_arm_link': .*upper_arm\.obj: it is broken"):
        export.read()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.001 0.001 0.001", "0.001 0.001", "scale is '0.001 0.001', expected three numbers"),
        ("0.001 0.001 0.001", "0.001 0 0.001", "scale is '0.001 0 0.001', expected three"),
        ("meshes/base.stl", "urdf/mesh_arm.urdf", "expected a file that ends in .stl, .obj, .dae"),
    ],
)
def test_a_wrong_scale_or_format_is_named(export: Any, old: str, new: str, message: str) -> None:
    export.replace(old, new)
    with pytest.raises(MeshError, match=r"^link 'base_link': collision: mesh .*") as caught:
        export.read()
    assert message in str(caught.value)


def test_each_file_is_read_once_whatever_its_scale(export: Any) -> None:
    meshes = Meshes()
    assert check_meshes(export.urdf(), meshes) == []
    for reference in mesh_references(ElementTree.fromstring(export.urdf())):
        mesh_path(reference).write_bytes(b"")
    assert check_meshes(export.urdf(), meshes) == []
    with pytest.raises(MeshError, match="it is empty"):
        check_meshes(export.urdf(), Meshes())


def test_a_mesh_with_too_many_triangles_is_reported_with_its_link(
    export: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humanoid_control_common.description.mesh_files._MANY", 11)
    (base, *_) = check_meshes(export.urdf(), Meshes())
    assert re.match(r"link 'base_link': visual: mesh .*base.stl: 12 triangles: .* 20000", base)
