"""The key `joints`: the joints of a controller with a list, and refused lists."""

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.loop.snapshot import MemberReport, Phase, Snapshot
from humanoid_controller_manager.ros.parameters import ControllerEntry
from humanoid_controller_manager.switching.lifecycle import Change
from humanoid_controller_manager.switching.registry import State, listeners_of, slots_of


def _bring_up(world: Any, **joints: Any) -> None:
    """Bring up one STANDBY controller for each name; None: without a list."""
    world.joints = {name: it for name, it in joints.items() if it is not None}
    world.lifecycle.bring_up({name: ControllerEntry(type="x/Stiff") for name in joints})


@pytest.fixture
def new_world(world_type: Any, robot: RobotFacts) -> Any:
    return world_type(robot)


def test_a_controller_with_a_list_is_configured_for_those_joints(new_world: Any) -> None:
    _bring_up(new_world, right=["b"], left=["a"])
    _, robot = new_world.instance("right").configured
    assert robot.joints.names == ("b",)
    assert len(robot.limits.velocity) == 1
    assert new_world.sides[0].robot.joints.names == ("b",)
    assert slots_of(new_world.registry.records)["right"].claimed.rows.tolist() == [1]
    assert new_world.hardware.rows.tolist() == [0]  # its gains are checked on its joints
    assert new_world.registry.of_mode(Mode.STANDBY) == "right+left"


def test_the_joints_are_in_the_order_of_the_list(new_world: Any) -> None:
    _bring_up(new_world, both=["b", "a"])
    assert new_world.instance("both").configured[1].joints.names == ("b", "a")


def test_controller_without_a_list_of_joints_has_all_joints(
    new_world: Any, robot: RobotFacts
) -> None:
    _bring_up(new_world, whole=None)
    assert new_world.instance("whole").configured[1] is robot
    assert slots_of(new_world.registry.records)["whole"].claimed is None


def _snapshot() -> Snapshot:
    arrays = np.arange(6.0).reshape(3, 2), np.arange(10.0).reshape(5, 2)
    members = (MemberReport("left", None, ""), MemberReport("right", None, "slow"))
    return Snapshot(
        1, 0.0, 0.0, 0, *arrays, "left+right", Mode.STANDBY, 1, Phase.RUNNING, None, "right: slow",
        "", (), None, None, 0, None, members,
    )  # fmt: skip


def test_listener_of_a_controller_receives_only_the_claimed_joints(new_world: Any) -> None:
    _bring_up(new_world, right=["b"])
    (listener,) = listeners_of(new_world.registry.records)
    listener(_snapshot())
    (received,) = new_world.received
    assert received.state.position.tolist() == [1.0]
    assert received.command.damping.tolist() == [9.0]
    assert (received.controller, received.remark) == ("right", "slow")


def test_each_member_in_charge_is_active_and_left_alone(world: Any) -> None:
    world.entries = {name: ControllerEntry(type="x/Stiff") for name in ("left", "right")}
    world.joints = {"left": ["a"], "right": ["b"]}
    for name in ("left", "right"):
        world.lifecycle.load(name)
        world.lifecycle.configure(name)
    world.pending_controller = "left+right"
    with pytest.raises(Exception, match="a switch to it is on its way"):
        world.lifecycle.configure("right")
    world.in_charge = "left+right"
    assert [world.state(name) for name in ("left", "right")] == [State.ACTIVE] * 2


def test_of_controllers_with_all_joints_the_first_is_in_charge_and_the_others_wait(
    new_world: Any,
) -> None:
    _bring_up(new_world, first=None, second=None)
    assert new_world.registry.of_mode(Mode.STANDBY) == "first"
    assert new_world.state("second") is State.INACTIVE
    change = new_world.lifecycle.prefer("second")
    assert change == Change(Mode.STANDBY, ("first",), ("second",))
    assert new_world.registry.of_mode(Mode.STANDBY) == "second"
    assert all(side.open for side in new_world.sides)


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        ({"s": ["a", "x"]}, r"^c.yaml:1: 'joints' of s: unknown joint x; known: a, b$"),
        ({"s": ["a", "a"]}, r"^c.yaml:1: 'joints' of s: joint listed more than once: a$"),
        ({"s": []}, r"^c.yaml:1: 'joints' of s is empty: name joints, or leave the key out"),
        ({"s": "a"}, r"^c.yaml:1: 'joints': Input should be a valid list"),
        (
            {"s": ["a"], "t": ["b", "a"]},
            r"^c.yaml:2: 'joints': a claimed by both 's' \(c.yaml:1\) and 't' of mode STANDBY: ",
        ),
        (
            {"s": None, "t": ["b"]},
            r"^c.yaml:2: 's' \(c.yaml:1\) and 't' .* together: s claims all joints. Give each",
        ),
    ],
)
def test_lists_that_cannot_be_are_refused_at_the_start_with_their_place(
    new_world: Any, joints: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        _bring_up(new_world, **joints)


def test_a_safe_mode_owns_all_joints(new_world: Any) -> None:
    new_world.joints = {"d": ["a", "b"]}
    with pytest.raises(
        ConfigError, match=r"^c.yaml:1: 'joints' of d: DAMPING must own all joints: leave the key"
    ):
        new_world.lifecycle.bring_up({"d": ControllerEntry(type="x/Damper")})


def test_two_controllers_of_a_safe_mode_may_be_there(new_world: Any) -> None:
    new_world.lifecycle.bring_up({name: ControllerEntry(type="x/Damper") for name in "de"})
    assert new_world.registry.of_mode(Mode.DAMPING) == "d"


def test_a_spare_may_be_loaded_later_and_takes_no_part_by_default(world: Any) -> None:
    world.entries = {it: ControllerEntry(type="x/Stiff") for it in ("left", "right", "spare")}
    world.joints = {"left": ["a"], "right": ["b"], "spare": ["b"]}
    for name in ("left", "right", "spare"):
        world.lifecycle.load(name)
        world.lifecycle.configure(name)
    assert world.registry.of_mode(Mode.STANDBY) == "left+right"
    world.lifecycle.unload("right")
    assert world.registry.of_mode(Mode.STANDBY) == "left+spare"


def test_a_controller_with_a_parameter_of_that_name_is_refused(world: Any) -> None:
    world.entries["o"] = ControllerEntry(type="x/OwnJoints")
    with pytest.raises(ConfigError, match="has a parameter 'joints': the manager takes that key"):
        world.lifecycle.load("o")
