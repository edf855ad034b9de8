"""A control loop that stands still."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_controllers.mode_manager.loop_liveness import LoopLiveness


def test_a_loop_may_take_a_second_for_a_tick() -> None:
    liveness = LoopLiveness()
    assert [
        liveness.problem(tick, now).text for tick, now in [(7, 0.0), (7, 1.0), (8, 1.5), (8, 2.5)]
    ] == [""] * 4
    assert liveness.problem(8, 2.6).text.startswith("control loop stands still for 1 s")


def test_a_loop_that_goes_on_is_no_problem_any_more() -> None:
    liveness = LoopLiveness()
    liveness.problem(1, 0.0)
    assert liveness.problem(1, 5.0)
    assert not liveness.problem(2, 5.1)


@pytest.fixture
def hanging(robot: Any) -> Any:
    """In STANDBY, with a loop that has not ticked for two seconds."""
    robot.enter(Mode.STANDBY)
    robot.time += 2.0
    return robot


def test_statement_reports_a_hanging_loop(hanging: Any) -> None:
    hanging.observe()
    assert "control loop stands still for 2 s" in hanging.message


def test_no_request_is_accepted_while_the_loop_hangs(hanging: Any) -> None:
    for intent in (Intent.START_REMOTE, Intent.ZERO_TORQUE, Intent.LOAD):
        answer = hanging.ask(intent)
        assert not answer.accepted or intent is Intent.LOAD  # LOAD: the mode of the statement


def test_damp_is_not_promised_by_a_loop_that_hangs_but_served_when_it_goes_on(hanging: Any) -> None:
    answer = hanging.ask(Intent.DAMP)
    assert not answer.accepted
    assert "DAMPING is requested, but the control loop stands still" in answer.message
    assert hanging.tick(2).mode is Mode.DAMPING


def test_a_loop_that_goes_on_is_in_damping_until_the_fault_is_cleared(hanging: Any) -> None:
    hanging.observe()
    assert hanging.tick(3).mode is Mode.DAMPING
    assert not hanging.ask(Intent.LOAD).accepted
    assert hanging.modes.clear_fault(hanging.time).accepted
    assert hanging.ask(Intent.LOAD).accepted
