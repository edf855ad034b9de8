"""Requests whose conditions need only time wait for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport

LIMIT = 0.5  # [s] the drives have to confirm a mode's gains
WRITING = "impedance of DAMPING not confirmed by arm"


@pytest.fixture
def writing(robot: Any) -> Any:
    """A robot in DAMPING since this tick; its drives still get their gains."""
    robot.enter(Mode.DAMPING)
    robot.hardware.confirmed = False
    robot.ask(Intent.FORCE_ZERO_TORQUE)
    robot.tick()
    robot.ask(Intent.DAMP)
    robot.tick()
    assert robot.mode is Mode.DAMPING
    return robot


@pytest.fixture
def load(writing: Any) -> Any:
    """The same robot with a waiting LOAD."""
    answer = writing.ask(Intent.LOAD)
    assert answer.accepted
    assert answer.message == writing.message == f"LOAD waits: {WRITING}"
    return writing


def test_a_load_with_the_statement_of_damping_waits_for_its_gains(load: Any) -> None:
    load.tick(20)
    assert (load.mode, load.message) == (Mode.DAMPING, f"LOAD waits: {WRITING}")
    load.hardware.confirmed = True
    load.tick(2)
    assert load.mode is Mode.STANDBY
    assert load.message == ""


def test_a_request_waits_no_longer_than_the_drives_may_take(load: Any) -> None:
    load.tick(round(LIMIT * 100) - 1)
    assert load.message.startswith("LOAD waits")
    load.tick(3)
    assert load.message == f"Rejected LOAD: {WRITING}"
    load.hardware.confirmed = True
    load.tick(10)
    assert load.mode is Mode.DAMPING


def test_repeated_requests_do_not_extend_the_timeout_of_a_waiting_request(load: Any) -> None:
    for _ in range(round(LIMIT * 100) + 2):
        load.ask(Intent.LOAD)
        load.tick()
    assert load.message == f"Rejected LOAD: {WRITING}"


OTHERS: dict[str, Callable[[Any], object]] = {
    "DAMP": lambda robot: robot.ask(Intent.DAMP),
    "START_REMOTE": lambda robot: robot.ask(Intent.START_REMOTE),
    "QUIT": lambda robot: robot.ask(Intent.QUIT),
    "unknown mode": lambda robot: robot.modes.refuse_unknown_mode(9),
    "power-down": lambda robot: robot.modes.close(),
}


@pytest.mark.parametrize("other", OTHERS)
def test_waiting_request_is_dropped_by_any_other_request(load: Any, other: str) -> None:
    OTHERS[other](load)
    load.hardware.confirmed = True
    load.tick(10)
    assert load.mode is Mode.DAMPING
    assert "waits" not in load.message


def test_the_refusal_names_what_dropped_the_request(load: Any) -> None:
    ticket = load.modes._requests.ticket + 1
    load.ask(Intent.DAMP)
    assert load.message == "Rejected LOAD: DAMP was requested meanwhile"
    assert (load.modes.refusal.ticket, load.modes.refusal.reason.text) == (ticket, load.message)


@pytest.mark.parametrize("cleared", [False, True])
def test_waiting_request_is_dropped_by_a_fall_even_if_cleared_at_once(
    load: Any, cleared: bool
) -> None:
    load.safety.report(SafetyReport("battery", SafetyLevel.FAULT, message="low"), load.time)
    load.observe()
    load.safety.report(SafetyReport("battery"), load.time)
    assert load.message.startswith("Fell to safety: battery")
    if cleared:
        assert load.modes.clear_fault(load.time).accepted
    load.hardware.confirmed = True
    load.tick(10)
    assert load.mode is Mode.DAMPING


def test_waiting_request_is_dropped_by_another_switch(load: Any) -> None:
    load.modes.go_down(Mode.ZERO_TORQUE)
    load.tick()
    load.modes.go_down(Mode.DAMPING)
    load.hardware.confirmed = True
    load.tick(10)
    assert load.mode is Mode.DAMPING
    assert load.message == "Rejected LOAD: ZERO_TORQUE came in force meanwhile"


def test_request_that_waiting_cannot_satisfy_is_refused_at_once(writing: Any) -> None:
    answer = writing.ask(Intent.START_REMOTE)
    assert (answer.accepted, answer.message) == (
        False,
        "Rejected START_REMOTE: requires STANDBY (currently DAMPING)",
    )


def test_a_controller_requested_by_name_is_what_takes_over(load: Any) -> None:
    assert load.modes.pending_controller == "standby_controller"
    load.hardware.confirmed = True
    load.tick()
    load.tick(2)
    assert load.modes.pending_controller == ""
    assert load.loop.snapshot.controller == "standby_controller"


# ZERO_TORQUE from DAMPING: the joints must have come to rest.


def test_zero_torque_waits_until_the_joints_have_been_slow_for_a_while(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.ask(Intent.DAMP)
    robot.tick()
    answer = robot.ask(Intent.ZERO_TORQUE)
    assert answer.accepted
    assert robot.message == "ZERO_TORQUE waits: joints damped and slow for less than 0.3 s"
    robot.tick(28)
    assert robot.mode is Mode.DAMPING
    robot.tick(4)
    assert (robot.mode, robot.message) == (Mode.ZERO_TORQUE, "")


@pytest.mark.parametrize(("velocity", "refused"), [(0.11, True), (-0.11, True), (0.09, False)])
def test_zero_torque_is_refused_while_an_arm_sinks(
    robot: Any, velocity: float, refused: bool
) -> None:
    robot.enter(Mode.DAMPING)
    robot.hardware.velocity = velocity
    robot.tick(50)
    answer = robot.ask(Intent.ZERO_TORQUE)
    assert answer.accepted is not refused
    if refused:
        assert "shoulder, elbow, wrist still moves" in answer.message
    assert robot.tick(50).mode is (Mode.DAMPING if refused else Mode.ZERO_TORQUE)


def test_an_arm_that_begins_to_sink_while_zero_torque_waits_is_not_let_fall(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    assert robot.ask(Intent.ZERO_TORQUE).accepted
    robot.tick(10)
    robot.hardware.velocity = 0.4
    robot.tick(2)
    assert robot.message.startswith("Rejected ZERO_TORQUE: shoulder, elbow, wrist still moves")
    robot.hardware.velocity = 0.0
    assert robot.tick(100).mode is Mode.DAMPING


def test_slowness_before_damping_doesn_t_count(robot: Any) -> None:
    """Arms held by a stiff mode are slow, and sink in DAMPING."""
    robot.enter(Mode.STANDBY)
    robot.tick(100)
    robot.ask(Intent.DAMP)
    robot.tick()
    robot.ask(Intent.ZERO_TORQUE)
    assert robot.tick(5).mode is Mode.DAMPING


def test_forced_zero_torque_is_immediate(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    robot.hardware.velocity = 2.0
    robot.tick(2)
    assert robot.ask(Intent.FORCE_ZERO_TORQUE).accepted
    assert robot.tick().mode is Mode.ZERO_TORQUE
