"""Meshes of a description in the 3-D view."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import viser

from humanoid_control_common.description.mesh_references import with_absolute_meshes
from humanoid_viz.page.scene import GREY, ROBOT, RobotScene
from humanoid_viz.state.model import Mesh, RobotModel
from humanoid_viz.state.urdf import parse_urdf

ARM = Path(__file__).resolve().parents[3] / "docs/examples/mesh_arm/urdf/mesh_arm.urdf"
GREY_STL = (0.35, 0.37, 0.4, 1.0)
ORANGE, BLUE = (1.0, 0.5, 0.1, 1.0), (0.05, 0.35, 0.7, 1.0)


@pytest.fixture
def urdf() -> str:
    return with_absolute_meshes(ARM.read_text(), ARM)


@pytest.fixture
def arm(urdf: str) -> RobotModel:
    return parse_urdf(urdf)


def test_every_part_of_a_mesh_is_a_shape_in_its_own_colour_or_the_links(arm: RobotModel) -> None:
    colours = {link: [visual.rgba for visual in shapes] for link, shapes in arm.visuals.items()}
    assert arm.not_drawn == ()
    assert colours == {
        "base_link": [GREY_STL],
        "upper_arm_link": [pytest.approx(ORANGE, abs=0.005)],
        "forearm_link": [pytest.approx(BLUE), pytest.approx(ORANGE)],
    }


def test_a_mesh_is_drawn_in_metres(arm: RobotModel) -> None:
    (visual,) = arm.visuals["base_link"]
    assert isinstance(visual.shape, Mesh)
    assert visual.shape.vertices.max(axis=0) == pytest.approx([0.1, 0.1, 0.05])


def test_a_mesh_that_is_not_here_is_named_and_the_rest_is_drawn(
    urdf: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        arm = parse_urdf(urdf.replace("upper_arm.obj", "lost.obj"))
    assert arm.not_drawn == ("upper_arm_link",)
    assert len(arm.visuals["forearm_link"]) == 2
    assert "link 'upper_arm_link': visual: mesh file://" in caplog.text


def test_the_browsers_scene_has_the_triangles_and_turns_grey_with_the_robot(
    arm: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    handles = {}
    add = server.scene.add_mesh_simple

    def added(path: str, *args: Any, **options: Any) -> Any:
        handles[path] = add(path, *args, **options)
        return handles[path]

    monkeypatch.setattr(server.scene, "add_mesh_simple", added)
    try:
        robot = RobotScene(server.scene, server.initial_camera)
        robot.show(arm, {}, live=True)
        base = handles[f"{ROBOT}/base_link/visual0"]
        corners = base.vertices[base.faces].reshape(-1, 3)
        colours = {path: handle.color for path, handle in handles.items()}
        robot.show(arm, {}, live=False)
        grey = {handle.color for handle in handles.values()}
    finally:
        server.stop()
    assert len(colours) == 4
    assert len(corners) == 3 * 12
    assert corners.max(axis=0) == pytest.approx([0.1, 0.1, 0.05])
    assert colours[base.name] == tuple(round(255 * channel) for channel in GREY_STL[:3])
    assert grey == {GREY}
