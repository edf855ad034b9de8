"""The operator's stop: its causes, its effects, and its release."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controllers.mode_manager.emergency_stop import SOURCE, EmergencyStop
from humanoid_controllers.reason_codes import HEARTBEAT_MISSING

MODES = [Mode.ZERO_TORQUE, Mode.DAMPING, Mode.STANDBY, Mode.REMOTE]
REASON = "emergency stop (gamepad)"


@pytest.fixture
def watched(robot_type: Any) -> Any:
    """A robot that requires a heartbeat of an operator's desk every 0.5 s."""
    return robot_type(heartbeats={"desk": 0.5})


def beat_for(robot: Any, ticks: int) -> None:
    for _ in range(ticks):
        robot.stop.beat("desk", robot.time)
        robot.tick()


@pytest.mark.parametrize("mode", MODES)
def test_a_stop_leads_to_damping_in_the_next_tick_from_any_mode(robot: Any, mode: Mode) -> None:
    robot.enter(mode)
    robot.stop.press("gamepad")
    robot.observe()
    assert robot.tick().mode is Mode.DAMPING
    assert robot.message == f"Fell to safety: {REASON}; call clear_fault before the next request"


def test_a_stop_holds_until_the_fault_is_cleared(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.stop.press("gamepad")
    robot.tick(500)
    refused = robot.ask(Intent.LOAD)
    assert (refused.accepted, REASON in refused.message) == (False, True)
    assert robot.stop.report(robot.time).level is SafetyLevel.CRITICAL
    assert robot.modes.clear_fault(robot.time).accepted
    assert robot.stop.report(robot.time) == SafetyReport(SOURCE)
    assert robot.ask(Intent.LOAD).accepted


def test_a_stop_in_a_stiff_mode_can_t_be_cleared_before_the_robot_is_soft(robot: Any) -> None:
    robot.enter(Mode.REMOTE)
    robot.stop.press("gamepad")
    assert not robot.modes.clear_fault(robot.time).accepted
    assert robot.stop.problem(robot.time).text == REASON
    assert robot.tick().mode is Mode.DAMPING


def test_a_stop_takes_back_a_load_of_the_same_tick(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    assert robot.ask(Intent.LOAD).accepted
    robot.stop.press("gamepad")
    robot.observe()
    assert robot.modes.clear_fault(robot.time).accepted
    assert robot.tick(3).mode is Mode.DAMPING


def test_clearing_releases_the_stop_but_no_other_fault(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    robot.safety.report(SafetyReport("battery", SafetyLevel.FAULT, message="low"), robot.time)
    robot.stop.press("gamepad")
    answer = robot.modes.clear_fault(robot.time)
    assert not answer.accepted
    assert "battery reports FAULT: low" in answer.message
    assert REASON not in answer.message
    assert not robot.ask(Intent.LOAD).accepted


def test_a_fault_that_came_and_went_during_a_stop_does_not_return_after_clearing(
    robot: Any,
) -> None:
    """As when the stop cuts the power of the motors, too."""
    robot.enter(Mode.STANDBY)
    robot.stop.press("gamepad")
    robot.tick(5)
    robot.hardware.fault = SafetyReport("arm", SafetyLevel.FAULT, message="no power")
    robot.tick(5)
    robot.hardware.fault = None
    robot.tick(5)
    assert robot.modes.clear_fault(robot.time).accepted
    robot.tick(5)
    assert robot.message == ""
    assert robot.ask(Intent.LOAD).accepted


def test_a_stop_in_a_fall_is_stated_until_the_fault_is_cleared(robot: Any) -> None:
    """One operator clears the fault, another one has pressed the stop meanwhile."""
    robot.enter(Mode.STANDBY)
    robot.hardware.fault = SafetyReport("arm", SafetyLevel.FAULT, message="no power")
    robot.tick(5)
    robot.hardware.fault = None
    robot.stop.press("gamepad")
    robot.tick(5)
    fall = f"arm reports FAULT: no power; then: {REASON}"
    assert robot.message == f"Fell to safety: {fall}; call clear_fault before the next request"
    assert fall in robot.ask(Intent.LOAD).message
    assert robot.modes.clear_fault(robot.time).accepted
    robot.tick(5)
    assert robot.message == ""


def test_second_press_after_clearing_stops_the_robot_again(robot: Any) -> None:
    robot.stop.press("gamepad")
    robot.tick()
    assert robot.modes.clear_fault(robot.time).accepted
    robot.stop.press("/emergency_stop")
    robot.tick()
    assert "emergency stop (/emergency_stop)" in robot.ask(Intent.LOAD).message


def test_missing_first_heartbeat_refuses_stiff_modes_without_a_fall(watched: Any) -> None:
    watched.enter(Mode.DAMPING)
    answer = watched.ask(Intent.LOAD)
    assert answer.message == "Rejected LOAD: no heartbeat of desk yet"
    assert watched.stop.report(watched.time) == SafetyReport(
        SOURCE,
        SafetyLevel.WARNING,
        message="no heartbeat of desk yet",
        codes=(HEARTBEAT_MISSING.name,),
    )
    watched.stop.beat("desk", watched.time)
    assert watched.ask(Intent.LOAD).accepted


def test_a_stop_after_the_end_of_a_heartbeat_is_stated_too(watched: Any) -> None:
    """The heartbeat returns, and the operator that clears its end reads of the stop."""
    watched.enter(Mode.DAMPING)
    beat_for(watched, 3)
    watched.tick(200)
    watched.stop.press("gamepad")
    beat_for(watched, 3)
    assert f"heartbeat of desk ended (deadline 0.5 s); then: {REASON};" in watched.message
    assert watched.stop.report(watched.time).message == REASON
    assert watched.modes.clear_fault(watched.time).accepted


def test_a_stop_does_not_hide_a_heartbeat_that_is_still_silent(watched: Any) -> None:
    watched.enter(Mode.DAMPING)
    beat_for(watched, 3)
    watched.tick(200)
    watched.stop.press("gamepad")
    answer = watched.modes.clear_fault(watched.time)
    assert not answer.accepted
    assert "heartbeat of desk ended" in answer.message


def test_a_heartbeat_that_ends_is_a_stop(watched: Any) -> None:
    watched.enter(Mode.DAMPING)
    watched.stop.beat("desk", watched.time)
    assert watched.ask(Intent.LOAD).accepted
    beat_for(watched, 100)
    assert watched.mode is Mode.STANDBY
    watched.tick(49)
    assert watched.mode is Mode.STANDBY
    watched.tick(3)
    assert watched.mode is Mode.DAMPING
    assert "heartbeat of desk ended (deadline 0.5 s)" in watched.message


def test_late_heartbeat_does_not_release_the_stop() -> None:
    stop = EmergencyStop({"desk": 0.5})
    stop.beat("desk", 1.0)
    stop.beat("desk", 1.6)
    assert stop.problem(1.6).text == "heartbeat of desk ended (deadline 0.5 s)"
    stop.release(1.7)
    assert stop.problem(1.7).text == ""


def test_clearing_fails_while_the_heartbeat_is_silent(watched: Any) -> None:
    beat_for(watched, 1)
    watched.tick(60)
    answer = watched.modes.clear_fault(watched.time)
    assert not answer.accepted
    assert "heartbeat of desk ended" in answer.message
    watched.stop.beat("desk", watched.time)
    assert watched.modes.clear_fault(watched.time).accepted


def test_every_named_heartbeat_must_arrive() -> None:
    stop = EmergencyStop({"desk": 0.5, "tablet": 2.0})
    stop.beat("desk", 0.0)
    assert stop.refusal().text == "no heartbeat of tablet yet"
    stop.beat("tablet", 0.0)
    assert stop.refusal().text == ""
    stop.beat("desk", 0.4)
    assert stop.problem(0.8).text == ""
    assert stop.problem(0.95).text == "heartbeat of desk ended (deadline 0.5 s)"


def test_a_heartbeat_that_is_not_required_is_ignored() -> None:
    stop = EmergencyStop()
    stop.beat("desk", 0.0)
    assert stop.problem(100.0).text == ""
