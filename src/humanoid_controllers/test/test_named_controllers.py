"""A request for a controller by name gets the answer of a request for its mode."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.rules.modes import INTENT_OF_MODE, Mode
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.controller import ModeGains
from humanoid_controller_manager.loop.mode_controllers import ClaimedJoints, ControllerSlot
from humanoid_controllers.mode_manager.mode_manager import _unfinished
from humanoid_controllers.passive_controllers import DampingController
from humanoid_controllers.remote import RemotePolicyController
from humanoid_controllers.standby import StandbyController

MODES = [Mode.ZERO_TORQUE, Mode.DAMPING, Mode.STANDBY, Mode.REMOTE]
NAMES = {
    Mode.ZERO_TORQUE: "zero_torque_controller",
    Mode.DAMPING: "damping_controller",
    Mode.STANDBY: "standby_controller",
    Mode.REMOTE: "remote_policy_controller",
}


@pytest.fixture
def robot(robot_type: Any, make: Callable[..., Any]) -> Any:
    """A robot with a second controller for STANDBY and for DAMPING."""
    robot = robot_type()
    slots = {
        NAMES[mode]: ControllerSlot(NAMES[mode], controller)
        for mode, controller in robot.controllers.items()
    }
    slots["other_standby"] = ControllerSlot("other_standby", make(StandbyController))
    slots["other_damping"] = ControllerSlot("other_damping", make(DampingController))
    robot.loop.exchange_slots(slots)
    return robot


def ask(robot: Any, mode: Mode, controller: str) -> Any:
    return robot.modes.handle(INTENT_OF_MODE[mode], robot.time, controller)


def fault(robot: Any) -> None:
    robot.hardware.fault = SafetyReport("arm", SafetyLevel.FAULT, message="hot")
    robot.tick()


SITUATIONS: dict[str, Callable[[Any], object]] = {
    "well": lambda robot: None,
    "fault": fault,
    "unconfirmed": lambda robot: setattr(robot.hardware, "confirmed", False),
}


@pytest.mark.parametrize("situation", SITUATIONS)
@pytest.mark.parametrize("asked", MODES, ids=lambda mode: mode.name)
@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_the_answer_is_that_of_control_mode(
    robot_type: Any, mode: Mode, asked: Mode, situation: str
) -> None:
    by_mode, by_name = robot_type().enter(mode), robot_type().enter(mode)
    for robot in (by_mode, by_name):
        SITUATIONS[situation](robot)
    expected = by_mode.ask(INTENT_OF_MODE[asked])
    assert ask(by_name, asked, NAMES[asked]) == expected
    assert by_name.tick().mode is by_mode.tick().mode


@pytest.mark.parametrize(
    ("mode", "name"), [(Mode.STANDBY, "other_standby"), (Mode.DAMPING, "other_damping")]
)
def test_controller_requested_by_name_is_put_in_charge(robot: Any, mode: Mode, name: str) -> None:
    robot.enter(Mode.DAMPING if mode is Mode.STANDBY else Mode.ZERO_TORQUE)
    answer = ask(robot, mode, name)
    snapshot = robot.tick()
    assert answer.accepted
    assert (snapshot.controller, snapshot.ticket) == (name, answer.ticket)


def test_second_controller_of_the_mode_in_force_is_refused(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    answer = ask(robot, Mode.STANDBY, "other_standby")
    assert not answer.accepted
    assert answer.message == (
        "Rejected LOAD: 'standby_controller' is in charge of STANDBY; leave it first"
    )
    assert robot.message == answer.message
    assert robot.tick().controller == "standby_controller"


def test_a_controller_that_is_not_loaded_is_refused(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    answer = ask(robot, Mode.STANDBY, "ghost")
    assert not answer.accepted
    assert "unknown controller 'ghost'" in answer.message


def test_requested_controller_is_pending_until_the_loop_has_answered(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    assert robot.modes.pending_controller == ""
    ask(robot, Mode.STANDBY, "other_standby")
    assert robot.modes.pending_controller == "other_standby"
    robot.tick()
    assert robot.modes.pending_controller == ""


def test_a_mode_whose_controller_is_gone_is_refused(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    del (left := dict(NAMES))[Mode.STANDBY]
    robot.modes._controller_of = left.get
    answer = robot.ask(INTENT_OF_MODE[Mode.STANDBY])
    assert answer.message == "Rejected LOAD: no controller for STANDBY is loaded"


def test_a_policy_that_was_loaded_later_is_found(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    refused = robot.ask(INTENT_OF_MODE[Mode.LOCOMOTION])
    assert refused.message == "Rejected START_LOCOMOTION: no policy loaded: `hc policy load FILE`"
    robot.modes._controller_of = {**NAMES, Mode.LOCOMOTION: "other_standby"}.get
    assert robot.ask(INTENT_OF_MODE[Mode.LOCOMOTION]).accepted


# Controllers side by side.


@pytest.fixture
def shared(robot_type: Any, make: Callable[..., Any], facts: Any) -> Any:
    """A robot in REMOTE with `left` (shoulder) and `right` (wrist); `spare` claims the wrist."""
    robot = robot_type()
    slots = {
        NAMES[mode]: ControllerSlot(NAMES[mode], controller)
        for mode, controller in robot.controllers.items()
        if mode is not Mode.REMOTE
    }
    for name, row in (("left", 0), ("right", 2), ("spare", 2)):
        rows = np.array([row])
        controller = make(RemotePolicyController)
        controller.on_configure(controller._parameters, facts.of(rows))
        slots[name] = ControllerSlot(name, controller, claimed=ClaimedJoints(rows))
    robot.loop.hardware.hold_gains = ModeGains(20.0, 2.0)
    robot.loop.exchange_slots(slots)
    robot.modes._controller_of = {**NAMES, Mode.REMOTE: "left+right"}.get
    robot.enter(Mode.REMOTE)
    return robot


def test_a_mode_starts_with_all_its_controllers_and_states_them(shared: Any) -> None:
    statement = shared.modes.statement
    assert (statement.mode, statement.controller) == (Mode.REMOTE, "left+right")


def test_member_of_a_group_is_exchanged_without_a_switch(shared: Any) -> None:
    number = shared.loop.snapshot.switch_number
    answer = ask(shared, Mode.REMOTE, "left+spare")
    snapshot = shared.tick()
    assert answer.accepted
    assert (snapshot.controller, snapshot.ticket) == ("left+spare", answer.ticket)
    assert (snapshot.switch_number, shared.message) == (number, "")
    answer = ask(shared, Mode.REMOTE, "right")  # none of them continues
    assert answer.message == (
        "Rejected START_REMOTE: 'left+spare' is in charge of REMOTE; leave it first"
    )


@pytest.mark.parametrize(
    ("wrong", "named", "message"),
    [
        (lambda robot: robot.stop.press("panel"), "left+spare", "panel"),
        (lambda robot: setattr(robot.hardware, "confirmed", False), "left+spare", "not confirmed"),
        (lambda robot: None, "left+right+spare", "'right' and 'spare' can't .* both claim wrist"),
        (lambda robot: None, "left+ghost", "unknown controller 'ghost'"),
    ],
    ids=["stopped", "unconfirmed", "conflict", "unknown"],
)
def test_an_exchange_is_refused_where_a_start_would_be(
    shared: Any, wrong: Callable[[Any], object], named: str, message: str
) -> None:
    wrong(shared)
    shared.loop.tick(shared.time, 0.01, lambda: shared.time)
    answer = ask(shared, Mode.REMOTE, named)
    assert not answer.accepted
    assert re.search(f"^Rejected START_REMOTE: .*{message}", answer.message)
    assert shared.loop.snapshot.controller == "left+right"


def test_reason_names_the_member_without_progress(shared: Any) -> None:
    assert _unfinished(shared.loop.snapshot).text == (
        "'left' has no property `progress`, so it never is"
    )
