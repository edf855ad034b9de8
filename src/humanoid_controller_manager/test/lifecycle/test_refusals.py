"""Transitions that are refused, and their messages."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.ros.parameters import ControllerEntry
from humanoid_controller_manager.switching.registry import State, slots_of


def _entries(**types: str) -> dict[str, ControllerEntry]:
    return {name: ControllerEntry(type=kind) for name, kind in types.items()}


@pytest.mark.parametrize(
    ("verb", "message"),
    [
        ("configure", "Controller 'd' can not be configured from 'active' state."),
        ("cleanup", "Controller 'd' can not be cleaned-up from 'active' state."),
        ("unload", "Could not unload controller with name 'd' because it is still active"),
    ],
)
def test_the_controller_in_charge_is_left_alone(world: Any, verb: str, message: str) -> None:
    world.lifecycle.load("d")
    world.lifecycle.configure("d")
    world.in_charge = "d"
    with pytest.raises(ControllerError) as caught:
        getattr(world.lifecycle, verb)("d")
    assert str(caught.value) == message
    assert world.open_sides == 1


@pytest.mark.parametrize("verb", ["configure", "cleanup", "unload"])
def test_a_controller_that_is_about_to_take_over_is_left_alone(world: Any, verb: str) -> None:
    world.lifecycle.load("d")
    world.lifecycle.configure("d")
    before = world.instance("d")
    world.pending_controller = "d"
    with pytest.raises(ControllerError, match="a switch to it is on its way"):
        getattr(world.lifecycle, verb)("d")
    assert world.instance("d") is before


@pytest.mark.parametrize("verb", ["cleanup", "unload"])
def test_a_controller_that_takes_over_during_the_check_is_left_alone(world: Any, verb: str) -> None:
    """The loop switches in its own thread: the pending switch becomes the one in force."""
    world.lifecycle.load("d")
    world.lifecycle.configure("d")
    before = world.instance("d")
    world.take_over_when_observed = "d"
    with pytest.raises(ControllerError):
        getattr(world.lifecycle, verb)("d")
    assert world.instance("d") is before


@pytest.mark.parametrize("verb", ["cleanup", "unload"])
def test_fallback_controller_is_neither_cleaned_up_nor_unloaded(
    world_type: Any, robot: RobotFacts, verb: str
) -> None:
    world = world_type(robot, safe_chain=("d",))
    entries = _entries(d="x/Damper", e="x/Damper")
    entries["s"] = ControllerEntry(type="x/Stiff", fallback_controllers=["e"])
    world.lifecycle.bring_up(entries)
    world.connect()
    with pytest.raises(ControllerError, match=r"the loop falls back to it \(safe_controllers\)"):
        getattr(world.lifecycle, verb)("d")
    with pytest.raises(ControllerError, match="it is a fallback of s"):
        getattr(world.lifecycle, verb)("e")
    world.lifecycle.cleanup("s")
    getattr(world.lifecycle, verb)("e")
    assert "d" in slots_of(world.registry.records)


def test_fallback_controller_is_configured_anew_without_a_gap(
    world_type: Any,
    robot: RobotFacts,
) -> None:
    world = world_type(robot, safe_chain=("d",))
    world.lifecycle.bring_up(_entries(d="x/Damper"))
    exchanged: list[Any] = []
    world.registry.connect(lambda: "", lambda slots, listeners: exchanged.append(slots))
    before = world.instance("d")
    world.lifecycle.configure("d")
    assert [slots["d"].controller for slots in exchanged] == [world.instance("d")]
    assert world.instance("d") is not before


def test_fallbacks_that_are_not_there_or_not_safe_are_refused(world: Any) -> None:
    world.entries = _entries(s="x/Stiff", t="x/Stiff")
    world.entries["s"] = ControllerEntry(type="x/Stiff", fallback_controllers=["t"])
    world.lifecycle.load("s")
    with pytest.raises(ConfigError, match=r"s.fallback_controllers: unknown controller 't'"):
        world.lifecycle.configure("s")
    world.lifecycle.load("t")
    world.lifecycle.configure("t")
    with pytest.raises(ConfigError, match="'t' is STANDBY, expected a safe mode"):
        world.lifecycle.configure("s")
    assert world.state("s") is State.UNCONFIGURED
    assert world.open_sides == 1


def test_a_controller_is_loaded_once(world: Any) -> None:
    world.lifecycle.load("d")
    with pytest.raises(ControllerError, match="A controller named 'd' was already loaded"):
        world.lifecycle.load("d")


def test_a_controller_without_type_is_refused(world: Any) -> None:
    with pytest.raises(ConfigError, match="The 'type' param was not defined for 'ghost'"):
        world.lifecycle.load("ghost")
    assert world.registry.records == {}


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("x/NoUpdate", r"^controller 'n': plugin 'x/NoUpdate': .*NoUpdate lacks update$"),
        ("x/Misspelt", r"needs \{'stifness': .*\}, expected position, velocity, effort, stiff"),
        ("x/Needy", "needs damping: a controller of DAMPING must begin at once on any hardware"),
        ("x/Numbered", "is of mode 3, expected a Mode"),
    ],
)
def test_a_class_that_is_no_controller_is_refused_before_the_loop_runs_it(
    world: Any, kind: str, message: str
) -> None:
    world.entries = _entries(n=kind)
    with pytest.raises(ConfigError, match=message):
        world.lifecycle.load("n")
    assert world.registry.records == {}


@pytest.mark.parametrize("verb", ["configure", "cleanup", "unload"])
def test_an_unknown_controller_is_reported_with_the_loaded_ones(world: Any, verb: str) -> None:
    world.lifecycle.load("d")
    with pytest.raises(ControllerError) as caught:
        getattr(world.lifecycle, verb)("ghost")
    assert str(caught.value) == (
        f"Could not {verb} controller with name 'ghost' because no controller with this name "
        "exists; loaded: d"
    )
