"""A controller replaces others of its mode on a running robot, and is unloaded again."""

from typing import Any

import pytest

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.ros.parameters import ControllerEntry
from humanoid_controller_manager.switching.lifecycle import Change
from humanoid_controller_manager.switching.registry import State

STIFF = ControllerEntry(type="x/Stiff")


@pytest.fixture
def running(world: Any) -> Any:
    """A robot whose STANDBY is shared by `left` (a) and `right` (b)."""
    world.entries = {"left": STIFF, "right": STIFF}
    world.joints = {"left": ["a"], "right": ["b"], "new": ["b"]}
    for name in world.entries:
        world.lifecycle.load(name)
        world.lifecycle.configure(name)
    return world


def test_a_controller_replaces_those_whose_joints_it_claims(running: Any) -> None:
    change = running.lifecycle.load_first("new", STIFF)
    assert change == Change(Mode.STANDBY, ("left", "right"), ("new", "left"))
    assert running.state("right") is State.INACTIVE
    change = running.lifecycle.take_out("new")
    assert change == Change(Mode.STANDBY, ("new", "left"), ("left", "right"))
    assert running.open_sides == 2


def test_controller_with_all_joints_replaces_all_others(running: Any) -> None:
    del running.joints["new"]
    assert running.lifecycle.load_first("new", STIFF).after == ("new",)


def test_controller_of_the_same_name_is_replaced_with_its_topics(running: Any) -> None:
    before = running.instance("right")
    change = running.lifecycle.load_first("right", STIFF)
    assert change.after == ("right", "left")
    assert running.instance("right") is not before
    assert [side.open for side in running.sides] == [True, False, True]


def test_taking_a_part_of_anothers_joints_is_refused(running: Any) -> None:
    running.lifecycle.take_out("left")
    running.lifecycle.take_out("right")
    running.joints["wide"] = ["b", "a"]
    running.lifecycle.load_first("wide", STIFF)
    with pytest.raises(
        ConfigError,
        match=r"'joints' of new: b claimed by 'wide' \(c.yaml:3\), which claims a as well: "
        "claim all of its joints, or none, or first `hc unload wide`",
    ):
        running.lifecycle.load_first("new", STIFF)
    assert running.registry.of_mode(Mode.STANDBY) == "wide"
    assert running.open_sides == 1


@pytest.mark.parametrize("where", ["in_charge", "pending_controller"])
def test_a_mode_in_force_or_on_its_way_keeps_its_controllers(running: Any, where: str) -> None:
    setattr(running, where, "left+right")
    for change in (
        lambda: running.lifecycle.load_first("new", STIFF),
        lambda: running.lifecycle.take_out("right"),
        lambda: running.lifecycle.prefer("right"),
    ):
        with pytest.raises(ControllerError, match="STANDBY is in force, or about to be: leave it"):
            change()
    assert running.registry.of_mode(Mode.STANDBY) == "left+right"
    assert running.open_sides == 2


def test_controller_whose_configuration_fails_replaces_no_controller(running: Any) -> None:
    running.gain = 1e3
    with pytest.raises(ConfigError, match="too much of it"):
        running.lifecycle.load_first("right", STIFF)
    assert running.registry.of_mode(Mode.STANDBY) == "left+right"
    assert running.open_sides == 2


def test_controller_that_the_joints_cannot_run_replaces_no_controller(running: Any) -> None:
    running.hardware.lacks = "effort per_tick not offered by b"
    with pytest.raises(ControllerError, match=r"^right: effort per_tick not offered by b$"):
        running.lifecycle.load_first("right", ControllerEntry(type="x/Strong"))
    assert running.registry.of_mode(Mode.STANDBY) == "left+right"
    assert running.open_sides == 2


@pytest.mark.parametrize("name", ["nobody", "speaker", "raw"])
def test_only_a_configured_mode_controller_is_preferred(running: Any, name: str) -> None:
    running.entries |= {"speaker": ControllerEntry(type="x/PlainBroadcaster"), "raw": STIFF}
    running.lifecycle.load("speaker")
    running.lifecycle.load("raw")
    with pytest.raises(ControllerError, match=f"'{name}'"):
        running.lifecycle.prefer(name)


def test_broadcasters_are_not_loaded_like_this(running: Any) -> None:
    with pytest.raises(ControllerError, match="'s' is a broadcaster, expected a mode controller"):
        running.lifecycle.load_first("s", ControllerEntry(type="x/PlainBroadcaster"))


@pytest.mark.parametrize("configured", [True, False])
def test_a_broadcaster_is_replaced_by_no_controller_of_its_name(
    running: Any, configured: bool
) -> None:
    running.entries["speaker"] = ControllerEntry(type="x/PlainBroadcaster")
    running.lifecycle.load("speaker")
    if configured:
        running.lifecycle.configure("speaker")
        running.registry.broadcast(on=["speaker"], off=())
    sides = running.open_sides
    with pytest.raises(ControllerError, match="'speaker' is the name of a broadcaster"):
        running.lifecycle.load_first("speaker", STIFF)
    assert running.state("speaker") is (State.ACTIVE if configured else State.UNCONFIGURED)
    assert running.open_sides == sides
