"""The way down: soft until the joints are slow, limp, then no more decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.ros.process.shutdown_report import ShutdownReport
from humanoid_controllers.mode_manager.loop_liveness import LONGEST_TICK
from humanoid_controllers.mode_manager.power_down import SETTLE_LIMIT, ZERO_LIMIT, PowerDown
from humanoid_controllers.mode_manager.power_down_service import outcome_of
from humanoid_controllers.mode_manager.rest_detection import SLOW_FOR

MODES = [Mode.ZERO_TORQUE, Mode.DAMPING, Mode.STANDBY, Mode.REMOTE]
MOST_TICKS = 2000


def begun(robot: Any) -> PowerDown:
    robot.modes.close()
    return PowerDown(robot.modes, robot.time)


def seconds_to_the_end(
    robot: Any, way: PowerDown, before_each_step: Callable[[], object] = lambda: None
) -> float:
    start = robot.time
    for _ in range(MOST_TICKS):
        if way.advance(robot.loop.snapshot, robot.time):
            return float(robot.time - start)
        before_each_step()
        robot.tick()
    raise AssertionError("the way down has no end")


@pytest.mark.parametrize("mode", MODES)
def test_a_power_down_ends_limp_from_any_mode(robot: Any, mode: Mode) -> None:
    robot.enter(mode)
    way = begun(robot)
    assert seconds_to_the_end(robot, way) < 0.5
    assert robot.mode is Mode.ZERO_TORQUE
    assert way.remarks == []


@pytest.mark.parametrize("mode", MODES)
def test_a_fault_that_stays_is_no_obstacle(robot: Any, mode: Mode) -> None:
    robot.enter(mode)
    robot.safety.report(SafetyReport("battery", SafetyLevel.FAULT, message="low"), robot.time)
    robot.stop.press("gamepad")
    way = begun(robot)
    assert seconds_to_the_end(robot, way) < 0.5
    assert robot.mode is Mode.ZERO_TORQUE
    assert way.remarks == []


def test_damping_stays_while_a_joint_moves(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.hardware.velocity = -0.5
    robot.tick()
    way, rests_at = begun(robot), robot.time + 2.0

    def sink() -> None:
        if robot.time >= rests_at:
            robot.hardware.velocity = 0.0
        assert robot.mode is not Mode.ZERO_TORQUE or robot.time > rests_at

    assert seconds_to_the_end(robot, way, sink) == pytest.approx(2.0 + SLOW_FOR, abs=0.1)
    assert way.remarks == []


def test_a_joint_at_the_turn_of_a_swing_does_not_count_as_slow(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    way, count = begun(robot), 0

    def swing() -> None:
        nonlocal count
        count += 1
        robot.hardware.velocity = 0.5 if count % 20 < 10 and count < 300 else 0.0

    assert seconds_to_the_end(robot, way, swing) > 3.0
    assert way.remarks == []


def test_a_joint_that_never_comes_to_rest_is_not_waited_for_forever(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    robot.hardware.velocity = 0.5
    robot.tick()
    way = begun(robot)
    assert seconds_to_the_end(robot, way) == pytest.approx(SETTLE_LIMIT, abs=0.1)
    (remark,) = way.remarks
    assert remark.startswith("still moving: ")
    assert remark.endswith(" after 6 s")


def test_gains_that_are_never_confirmed_are_not_waited_for_forever(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    robot.hardware.confirmed = False
    way = begun(robot)
    took = seconds_to_the_end(robot, way)
    assert took == pytest.approx(SLOW_FOR + ZERO_LIMIT, abs=0.1)
    assert way.remarks == ["impedance of ZERO_TORQUE not confirmed by arm after 1.5 s"]


def test_a_loop_that_stands_still_is_not_waited_for(robot: Any) -> None:
    robot.enter(Mode.REMOTE)
    way, now = begun(robot), robot.time
    while not way.advance(robot.modes.observe(now), now):
        now += 0.02
        assert now < robot.time + LONGEST_TICK + 0.1
    assert way.remarks == ["the control loop stood still"]


@pytest.mark.parametrize("intent", list(Intent))
def test_requests_are_refused_on_the_way_down(robot: Any, intent: Intent) -> None:
    robot.enter(Mode.DAMPING)
    begun(robot)
    answer = robot.ask(intent)
    assert (answer.accepted, answer.shut_down) == (False, False)
    assert answer.message == f"Rejected {intent.value}: powering down"
    assert not robot.modes.clear_fault(robot.time).accepted
    assert robot.tick(3).mode is Mode.DAMPING


def test_the_answer_contains_what_each_component_confirmed() -> None:
    ending = ShutdownReport("", ("Side (gates read back as 0)", "CAN (motors disabled)"))
    text = "all joints are without torque: Side (gates read back as 0), CAN (motors disabled)"
    assert outcome_of(ending, []) == (True, text)
    assert outcome_of(ending, ["still moving: elbow after 6 s"]) == (
        True,
        f"{text}; still moving: elbow after 6 s",
    )


def test_the_answer_names_what_may_still_be_powered_and_the_remedy() -> None:
    ending = ShutdownReport(
        "joints may still be powered: CAN: no adapter", ("Side (gates closed)",)
    )
    assert outcome_of(ending, []) == (
        False,
        "joints may still be powered: CAN: no adapter: cut the power of the drives; "
        "without torque: Side (gates closed)",
    )
