"""Duties with a number: a wrong value is the fault of its component, and the loop continues."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.safety.measurement_check import MeasurementCheck

VALUES: dict[str, Any] = {
    "sample_age": 0.001,
    "time": 1.0,
    "real_time_factor": 0.0,
    "teleports": 0,
}


def _value(duty: str) -> property:
    """A property that returns or raises a given result."""

    def get(component: Any) -> Any:
        value = component.values[duty]
        if isinstance(value, BaseException):
            raise value
        return value

    return property(get)


@pytest.fixture
def telling(rig: Any, scripted_hardware: Any, limits_of: Any) -> Any:
    """A supervised robot whose component has every duty that returns a number."""
    kind = type("Telling", (scripted_hardware,), {duty: _value(duty) for duty in VALUES})
    component = kind()
    component.values = VALUES.copy()
    robot = rig({"sim": (component, ("a", "b"))})
    robot.arm = component
    limits = limits_of(2)
    robot.loop.set_measurement_check(
        MeasurementCheck(robot.group.joints, limits.velocity * 1.5, limits.effort / 9.0, 100.0)
    )
    return robot


BAD_NUMBERS = [KeyError("q"), SystemExit(2), float("nan"), float("inf"), "soon", None]


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=repr)
@pytest.mark.parametrize("duty", ["sample_age", "teleports"])
def test_a_number_that_a_component_fails_to_give_is_its_fault_and_every_tick_is_written(
    telling: Any, duty: str, bad: Any
) -> None:
    robot = telling.start("damped")
    robot.tick()
    robot.arm.values[duty] = bad
    report = robot.tick(3).reports[0]
    assert report.level is SafetyLevel.FAULT
    assert report.message.startswith(f"{duty} failed: ")
    assert len(robot.arm.written) == 4
    robot.arm.values[duty] = VALUES[duty]
    assert robot.tick().reports[0].level is SafetyLevel.OK


@pytest.mark.parametrize(
    ("duty", "bad", "message"),
    [
        ("sample_age", -0.1, "found -0.1, expected 0 or more"),
        ("teleports", -1, "found -1, expected 0 or more"),
        ("time", 0.5, "found 0.5, expected 1 or more"),
    ],
)
def test_a_number_that_can_not_be_is_a_fault_and_nothing_runs_backwards(
    telling: Any, duty: str, bad: Any, message: str
) -> None:
    robot = telling.start("damped")
    robot.tick()
    robot.arm.values[duty] = bad
    assert robot.tick(2).reports[0].message == f"{duty} failed: ValueError: {message}"
    assert robot.group.time == 1.0


def test_a_simulator_that_fails_to_count_has_moved_no_joint(telling: Any) -> None:
    robot = telling
    robot.arm.values["teleports"] = 3
    robot.start("damped")
    robot.tick(2)
    robot.arm.values["teleports"] = KeyError("q")
    robot.tick()
    robot.arm.measured[0] = 2.5  # a jump beyond the speed of any joint
    robot.tick()
    robot.arm.values["teleports"] = 3
    snapshot = robot.tick(2)
    assert snapshot.fall is not None
    assert "from where it was" in snapshot.fall.reason.text


@pytest.mark.parametrize("bad", BAD_NUMBERS, ids=repr)
def test_a_clock_that_fails_stands_still_and_the_loop_goes_on(telling: Any, bad: Any) -> None:
    runner = LoopThread(telling.loop, 100.0, lambda snapshot: None)
    group, component = telling.group, telling.arm
    group.read_time()
    telling.start("damped")
    component.values["time"] = bad
    for _ in range(3):
        telling.loop.tick(runner.now(), 0.0, runner.now)
    assert runner.now() == 1.0
    report = telling.loop.snapshot.reports[0]
    assert report.level is SafetyLevel.FAULT
    assert report.message.startswith("time failed: ")
    assert len(component.written) == 3
    component.values["time"] = 1.5
    telling.loop.tick(runner.now(), 0.0, runner.now)
    assert (runner.now(), telling.loop.snapshot.reports[0].level) == (1.5, SafetyLevel.OK)


@pytest.mark.parametrize("bad", [*BAD_NUMBERS, -1.0], ids=repr)
def test_a_factor_of_time_that_a_component_fails_to_give_is_refused_before_anything_moves(
    telling: Any, bad: Any
) -> None:
    telling.arm.values["real_time_factor"] = bad
    with pytest.raises(ConfigError, match=r"'sim'.*real_time_factor"):
        telling.group.configure()
    assert "on_activate" not in telling.arm.calls
