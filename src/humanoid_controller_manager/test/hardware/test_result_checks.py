"""Results of a component's duties are checked outside of ticks, too."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.mit_interface import Capability
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_controller_manager.hardware.result_checks import shown
from humanoid_controller_manager.hardware_component import uniform_capabilities
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.reason_codes import COMPONENT_FAILED
from humanoid_controller_manager.ros.process.shutdown_report import stop_and_report
from humanoid_controller_manager.ros.topics.diagnostics import Diagnostician

GOOD = uniform_capabilities(2, Capability.PER_TICK)
NAN = float("nan")


def _with_duties(scripted_hardware: Any, **duties: Any) -> Any:
    return type("Telling", (scripted_hardware,), duties)()


@pytest.mark.parametrize(
    "found",
    [None, 2, "all", GOOD[:4], GOOD[:, :1], GOOD.astype(float), GOOD + 1, GOOD.tolist()],
    ids=shown,
)
def test_capabilities_that_are_none_are_refused_before_anything_moves(
    rig: Any, scripted_hardware: Any, found: Any
) -> None:
    arm = _with_duties(scripted_hardware, capabilities=lambda self: found)
    text = r"'arm'>: plugin .*: capabilities: found .*, expected Capability values, shape \(5, 2\)"
    with pytest.raises(ConfigError, match=text):
        rig({"arm": (arm, ("a", "b"))})
    assert "on_activate" not in arm.calls


@pytest.mark.parametrize("found", [None, "lost", (1, 2), 7], ids=shown)
def test_counters_without_names_are_refused_before_anything_moves(
    rig: Any, scripted_hardware: Any, found: Any
) -> None:
    arm = _with_duties(scripted_hardware, counter_names=found, bus_counts=lambda self: ())
    with pytest.raises(ConfigError, match=r"'arm'>.*counter_names: found .*, expected a tuple of"):
        rig({"arm": (arm, ("a", "b"))})


def test_a_component_whose_first_report_is_none_does_not_start(
    rig: Any, scripted_hardware: Any
) -> None:
    arm = _with_duties(scripted_hardware, safety=lambda self: None)
    with pytest.raises(Exception, match="arm: found None, expected a SafetyReport"):
        rig({"arm": (arm, ("a", "b"))}).start()
    assert arm.calls[-1] == "on_deactivate"


@pytest.mark.parametrize(
    "found",
    [3.0, "never", [1.0, 1.0], np.ones(3), np.ones((2, 1)), np.array([1, 1]), np.array([1.0, NAN]),
     np.array([-1.0, 1.0])],
    ids=shown,
)  # fmt: skip
def test_joints_whose_watchdogs_make_no_sense_are_taken_to_have_none(
    rig: Any, scripted_hardware: Any, found: Any, caplog: Any
) -> None:
    arm = _with_duties(scripted_hardware, watchdog_times=lambda self: found)
    (member,) = rig({"arm": (arm, ("a", "b"))}).group.members
    assert member.watchdogs() == {"a": inf, "b": inf}
    assert member.joints_without_watchdog() == ["a", "b"]
    assert caplog.text.count("watchdog_times failed") == 1


@pytest.mark.parametrize(
    "found",
    [None, 3, "bus", {}, [None], ["bus"], [Diagnosis(None)], [Diagnosis("bus", 1)],  # type: ignore[arg-type]
     [Diagnosis("bus", values={"age": 3})], [Diagnosis("bus", message=None)],  # type: ignore[arg-type, dict-item]
     [Diagnosis("bus", codes=(COMPONENT_FAILED,))], [Diagnosis("bus", codes=None)]],  # type: ignore[arg-type]
    ids=shown,
)  # fmt: skip
def test_a_component_with_invalid_diagnoses_is_reported_and_the_others_are_published(
    rig: Any, scripted_hardware: Any, found: Any
) -> None:
    diagnosis = Diagnosis("bus: leg", message="well")
    arm = _with_duties(scripted_hardware, diagnose=lambda self: found)
    leg = _with_duties(scripted_hardware, diagnose=lambda self: [diagnosis])
    robot = rig({"arm": (arm, ("a",)), "leg": (leg, ("b",))}).start()
    runner = LoopThread(robot.loop, 100.0, lambda snapshot: None)
    report = Diagnostician(robot.loop, runner, lambda: 0, tuple).report()
    (bad,) = [it for it in report if it.name == "bus: arm"]
    assert bad.level is DiagnosisLevel.ERROR
    assert bad.message.startswith("diagnose failed: ResultError(")
    assert diagnosis in report


@pytest.mark.parametrize(
    "found", [None, 3, property(lambda self: 1 / 0)], ids=["None", "3", "raises"]
)
def test_an_empty_exit_check_claims_nothing(rig: Any, scripted_hardware: Any, found: Any) -> None:
    arm = _with_duties(scripted_hardware, exit_check=found)
    robot = rig({"arm": (arm, ("a", "b"))}).start()
    robot.stop = robot.loop.stop
    assert stop_and_report(robot).in_order == ("arm (deactivated)",)


def test_a_loop_that_could_not_start_reports_the_error_of_the_component(
    rig: Any, confirming_hardware: Any
) -> None:
    arm = _with_duties(confirming_hardware, mode_changed=lambda self, mode, number: 1 / 0)
    with pytest.raises(ControllerError, match="arm: mode_changed failed: ZeroDivisionError"):
        rig({"arm": (arm, ("a", "b"))}).start()
