from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest

from humanoid_viz.page.scene import GREY, ROBOT, RobotScene
from humanoid_viz.state.extent import extent
from humanoid_viz.state.urdf import parse_urdf


class FakeScene:
    """Records the added objects by path."""

    def __init__(self) -> None:
        self.nodes = {}

    def _add(self, path, **properties):
        properties.setdefault("wxyz", (1.0, 0.0, 0.0, 0.0))
        properties.setdefault("position", (0.0, 0.0, 0.0))
        self.nodes[path] = SimpleNamespace(**properties)
        return self.nodes[path]

    add_frame = add_box = add_cylinder = add_icosphere = _add

    def remove_by_name(self, name):
        self.nodes = {
            path: node for path, node in self.nodes.items() if not f"{path}/".startswith(f"{name}/")
        }


@pytest.fixture
def scene() -> FakeScene:
    return FakeScene()


@pytest.fixture
def camera() -> SimpleNamespace:
    return SimpleNamespace()


@pytest.fixture
def robot(scene: FakeScene, camera: SimpleNamespace) -> RobotScene:
    return RobotScene(scene, camera)


UPPER = f"{ROBOT}/base/upper"


def test_links_hang_on_each_other_as_the_joints_say(scene, robot, arm_model):
    robot.show(arm_model, {}, live=True)
    assert set(scene.nodes) == {
        ROBOT,
        f"{ROBOT}/base",
        f"{ROBOT}/base/visual0",
        UPPER,
        f"{UPPER}/visual0",
        f"{UPPER}/fore",
        f"{UPPER}/fore/visual0",
    }
    assert scene.nodes[UPPER].position == (0.0, 0.0, 1.0)
    assert scene.nodes[f"{UPPER}/visual0"].dimensions == (0.5, 0.5, 0.5)


def test_joints_follow_their_positions_and_stand_at_zero_without(scene, robot, arm_model):
    shoulder = arm_model.joints[0]
    robot.show(arm_model, {"shoulder": 0.5}, live=True)
    assert scene.nodes[UPPER].wxyz == shoulder.pose_at(0.5).rotation
    robot.show(arm_model, {}, live=True)
    assert scene.nodes[UPPER].wxyz == shoulder.pose_at(0.0).rotation


def test_the_robot_is_grey_while_its_pose_is_not_the_present_one(scene, robot, arm_model):
    robot.show(arm_model, {}, live=False)
    shapes = [node for path, node in scene.nodes.items() if "visual" in path]
    assert [shape.color for shape in shapes] == [GREY] * 3
    robot.show(arm_model, {}, live=True)
    assert [shape.color for shape in shapes] == [(255, 89, 0)] * 3
    robot.show(arm_model, {}, live=False)
    assert [shape.color for shape in shapes] == [GREY] * 3


def test_new_description_replaces_the_robot_and_no_description_removes_it(scene, robot, arm_model):
    robot.show(arm_model, {}, live=True)
    before = scene.nodes[UPPER]
    robot.show(arm_model, {}, live=True)
    assert scene.nodes[UPPER] is before
    robot.show(None, {}, live=True)
    assert scene.nodes == {}
    robot.show(arm_model, {}, live=True)
    assert scene.nodes[UPPER] is not before


def test_the_size_of_a_robot_is_that_of_all_its_shapes_in_their_places(arm_model):
    low, high = extent(arm_model)
    # The box of the upper link, on the cylinder below it; on top the sphere of the fore link.
    assert low == pytest.approx([-0.25, -0.25, 0.0])
    assert high == pytest.approx([0.25, 0.25, 1.6])


def test_a_turned_link_has_its_size_in_the_frame_of_the_robot(arm_urdf):
    lying = arm_urdf.replace('<origin xyz="0 0 1"/>', '<origin xyz="0 0 1" rpy="0 1.5707963 0"/>')
    low, high = extent(parse_urdf(lying))
    assert low == pytest.approx([-0.15, -0.25, 0.0], abs=1e-6)
    assert high == pytest.approx([0.6, 0.25, 1.25], abs=1e-6)


def test_the_camera_is_as_far_as_the_robot_is_large(robot, camera, arm_model, arm_urdf):
    robot.show(arm_model, {}, live=True)
    far = np.subtract(camera.position, camera.look_at)
    assert camera.look_at == pytest.approx((0.0, 0.0, 0.6 * 1.6))
    small = re.sub(r"(\d+(\.\d+)?)(?=[ \"])", lambda found: str(float(found[0]) / 10), arm_urdf)
    robot.show(parse_urdf(small), {}, live=True)
    assert np.subtract(camera.position, camera.look_at) == pytest.approx(far / 10)
    assert camera.look_at == pytest.approx((0.0, 0.0, 0.6 * 0.16))


def test_a_robot_without_shapes_is_no_trouble(robot, camera):
    robot.show(parse_urdf('<robot name="r"><link name="a"/></robot>'), {}, live=True)
    assert np.isfinite(camera.position).all()
