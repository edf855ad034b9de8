from __future__ import annotations

from types import SimpleNamespace

import pytest

from humanoid_viz.page.scene import GREY, ROBOT, RobotScene


class FakeScene:
    """Keeps what was added, by path."""

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
def robot(scene: FakeScene) -> RobotScene:
    return RobotScene(scene)


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


def test_another_description_replaces_the_robot_and_none_removes_it(scene, robot, arm_model):
    robot.show(arm_model, {}, live=True)
    before = scene.nodes[UPPER]
    robot.show(arm_model, {}, live=True)
    assert scene.nodes[UPPER] is before
    robot.show(None, {}, live=True)
    assert scene.nodes == {}
    robot.show(arm_model, {}, live=True)
    assert scene.nodes[UPPER] is not before
