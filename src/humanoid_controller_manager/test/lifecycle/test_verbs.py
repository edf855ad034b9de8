"""Transitions of controllers, also at the start."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.ros.parameters import ControllerEntry
from humanoid_controller_manager.switching.lifecycle import Lifecycle
from humanoid_controller_manager.switching.registry import State, listeners_of, slots_of


def _entries(**types: str) -> dict[str, ControllerEntry]:
    return {name: ControllerEntry(type=kind) for name, kind in types.items()}


def test_controllers_come_up_in_the_order_given_and_configured(
    world_type: Any, robot: RobotFacts
) -> None:
    world = world_type(robot)
    world.lifecycle.bring_up(_entries(z="x/Damper", a="x/Damper"))
    assert list(world.registry.records) == ["z", "a"]
    assert world.instance("z").configured == (1.0, robot)
    assert world.instance("z") is not world.instance("a")
    assert world.state("z") is State.INACTIVE


def test_a_controller_gets_a_slot_with_its_fallbacks_and_a_broadcaster_is_active_at_once(
    world_type: Any,
    robot: RobotFacts,
) -> None:
    world = world_type(robot)
    entries = {
        "d": ControllerEntry(type="x/Damper", fallback_controllers=["e"]),
        "s": ControllerEntry(type="x/PlainBroadcaster"),
    }
    world.lifecycle.bring_up(entries)
    slots = slots_of(world.registry.records)
    assert [(slot.name, slot.fallbacks) for slot in slots.values()] == [("d", ("e",))]
    assert world.state("s") is State.ACTIVE


def test_an_unknown_plugin_is_reported_with_the_controller(
    world_type: Any, robot: RobotFacts
) -> None:
    with pytest.raises(ConfigError, match=r"controller 'd': unknown plugin 'x/No'; known: x/D"):
        world_type(robot).lifecycle.bring_up(_entries(d="x/No"))


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        ("a lot", r"^d: parameters of d: 'gain'.*'a lot'"),
        (1e3, r"^parameters of d: d: gain: too much of it$"),
        (-1.0, r"d: on_configure failed: ZeroDivisionError"),
        (99.0, r"d: on_configure failed: SystemExit\(2\)"),
    ],
)
def test_configuration_error_names_the_controller(world: Any, gain: Any, message: str) -> None:
    world.lifecycle.load("d")
    world.gain = gain
    with pytest.raises(ConfigError, match=message):
        world.lifecycle.configure("d")
    assert world.state("d") is State.UNCONFIGURED
    assert world.open_sides == 0


def test_gains_that_the_hardware_cannot_have_are_refused_with_their_place(world: Any) -> None:
    world.entries = _entries(stiff="x/Stiff")
    world.lifecycle.load("stiff")
    world.hardware.most = 0.9
    with pytest.raises(ConfigError, match=r"^parameters of stiff: stiff: damping is 1$"):
        world.lifecycle.configure("stiff")
    world.hardware.most = 1.0
    world.lifecycle.configure("stiff")
    assert world.state("stiff") is State.INACTIVE


def test_a_controller_goes_through_the_states_and_back(world: Any) -> None:
    lifecycle = world.lifecycle
    lifecycle.load("d")
    assert world.state("d") is State.UNCONFIGURED
    lifecycle.configure("d")
    assert world.state("d") is State.INACTIVE
    world.in_charge = "d"
    assert world.state("d") is State.ACTIVE
    world.in_charge = ""
    lifecycle.cleanup("d")
    lifecycle.cleanup("d")  # nothing left to do
    assert (world.state("d"), world.open_sides) == (State.UNCONFIGURED, 0)
    lifecycle.unload("d")
    assert world.registry.records == {}


def test_unloading_an_inactive_controller_cleans_it_up(world: Any) -> None:
    world.lifecycle.load("d")
    world.lifecycle.configure("d")
    world.lifecycle.unload("d")
    assert (world.open_sides, slots_of(world.registry.records)) == (0, {})


def test_configuring_anew_takes_a_fresh_instance_and_the_parameters_of_now(world: Any) -> None:
    world.lifecycle.load("d")
    world.lifecycle.configure("d")
    before = world.instance("d")
    world.gain = 7.0
    world.lifecycle.configure("d")
    assert world.instance("d") is not before
    assert world.instance("d").configured[0] == 7.0
    assert world.open_sides == 1


def test_an_instance_that_is_not_used_any_more_is_cleaned_up_once(world: Any) -> None:
    world.lifecycle.bring_up(world.entries)
    first = world.instance("d")
    world.lifecycle.configure("d")
    second = world.instance("d")
    assert (first.cleaned, second.cleaned) == (1, 0)
    world.lifecycle.cleanup("d")
    world.lifecycle.unload("d")
    assert (first.cleaned, second.cleaned) == (1, 1)


def test_an_instance_that_comes_too_late_is_cleaned_up(
    world: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.lifecycle.bring_up(world.entries)
    made: list[Any] = []

    def replaced(self: Lifecycle, record: Any, configured: Any) -> None:
        made.append(configured.instance)
        raise ControllerError("a switch to it is on its way")

    monkeypatch.setattr(Lifecycle, "_replace", replaced)
    with pytest.raises(ControllerError):
        world.lifecycle.configure("d")
    assert made[0].cleaned == 1
    assert world.instance("d").cleaned == 0
    assert world.open_sides == 1


def test_an_instance_that_fails_to_clean_up_is_gone_all_the_same(
    world: Any, caplog: pytest.LogCaptureFixture
) -> None:
    world.gain = 13.0
    world.lifecycle.bring_up(world.entries)
    world.lifecycle.unload("d")
    assert "d" not in world.registry.records
    assert "d failed to clean up" in caplog.text


@pytest.mark.parametrize("broken", ["on_configure", "topics"])
def test_controller_whose_new_configuration_fails_keeps_the_old_instance(
    world: Any, broken: str
) -> None:
    world.lifecycle.load("d")
    world.lifecycle.configure("d")
    before = world.instance("d")
    world.gain, world.refuse = (1e3, "") if broken == "on_configure" else (1.0, "bad topic")
    with pytest.raises(ConfigError, match=r"too much|bad topic"):
        world.lifecycle.configure("d")
    assert world.instance("d") is before
    assert world.sides[0].open
    assert world.open_sides == 1


def test_the_first_configured_controller_of_a_mode_is_the_one_for_it(world: Any) -> None:
    world.entries = _entries(d="x/Damper", e="x/Damper")
    for name in ("d", "e"):
        world.lifecycle.load(name)
    assert world.registry.of_mode(Mode.DAMPING) is None
    world.lifecycle.configure("e")
    assert world.registry.of_mode(Mode.DAMPING) == "e"
    world.lifecycle.configure("d")
    assert world.registry.of_mode(Mode.DAMPING) == "d"
    world.lifecycle.cleanup("d")
    assert world.registry.of_mode(Mode.DAMPING) == "e"
    assert world.registry.of_mode(Mode.STANDBY) is None


def test_an_inactive_broadcaster_publishes_nothing(world: Any) -> None:
    world.entries = _entries(d="x/Damper", s="x/PlainBroadcaster")
    for name in ("d", "s"):
        world.lifecycle.load(name)
        world.lifecycle.configure(name)
    assert len(listeners_of(world.registry.records)) == 1
    world.registry.broadcast(on=["s"], off=[])
    assert (len(listeners_of(world.registry.records)), world.state("s")) == (2, State.ACTIVE)
    world.registry.broadcast(on=[], off=["s"])
    assert (len(listeners_of(world.registry.records)), world.state("s")) == (1, State.INACTIVE)


def test_lifecycle_runs_slow_steps_outside_of_the_executor(world: Any) -> None:
    world.lifecycle.load("d")
    world.lifecycle.configure("d")
    world.lifecycle.configure("d")
    world.lifecycle.cleanup("d")
    world.lifecycle.unload("d")
    assert world.outside == {"open", "attach"}
    assert world.inside == {"entry", "asked for", "exchange", "begin", "close"}
