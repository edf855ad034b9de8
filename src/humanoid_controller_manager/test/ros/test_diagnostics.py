"""Diagnoses of the loop and its hardware, and the times of their publication."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from builtin_interfaces.msg import Time

from humanoid_control_common.robot.mit_interface import JointState
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.ros.topics.diagnostics import (
    SHORTEST,
    Diagnostician,
    diagnostic_array,
    diagnostic_arrays,
)
from humanoid_controller_manager.safety.loop_diagnoses import (
    COMMANDS,
    GRAVITY,
    LIMITS,
    MODE,
    RANGES,
    SELF_COLLISION,
    STANDING,
    TIMING,
    WATCHDOGS,
)
from humanoid_controller_manager.safety.measurement_check import MeasurementCheck

if TYPE_CHECKING:
    from src.humanoid_controller_manager.test.conftest import Rig, ScriptedHardware

OK, WARN, ERROR = DiagnosisLevel.OK, DiagnosisLevel.WARN, DiagnosisLevel.ERROR


class Watched:
    """A diagnostician on a clock that only the test advances."""

    def __init__(self, rig) -> None:
        self.rig, self.time = rig, 0.0
        self.loop_thread = LoopThread(rig.loop, 100.0, lambda snapshot: None)
        self.overwritten = 0
        self.beside: list[Diagnosis] = []
        self.diagnostician = Diagnostician(
            rig.loop,
            self.loop_thread,
            lambda: self.overwritten,
            lambda: self.beside,
            lambda: self.time,
        )

    def report(self) -> dict[str, Diagnosis]:
        self.time += 1.0
        return {diagnosis.name: diagnosis for diagnosis in self.diagnostician.report()}


@pytest.fixture
def watched(rig: type[Rig]) -> Watched:
    watched = Watched(rig().start("damped"))
    watched.rig.tick()
    return watched


def test_a_robot_that_is_well_is_ok_throughout(watched) -> None:
    found = watched.report()
    loop = [TIMING, MODE, SELF_COLLISION, GRAVITY, LIMITS, RANGES, STANDING, COMMANDS]
    assert [*found] == [*loop, "hardware: arm", WATCHDOGS]
    assert {diagnosis.level for diagnosis in found.values()} == {OK}
    assert found[MODE].message == "DAMPING"
    assert found[MODE].values["controller"] == "damped"


def test_the_standing_joint_nearest_to_its_bound_is_named(watched) -> None:
    assert watched.report()[STANDING].message == "not checked"
    loop = watched.rig.loop
    joints = loop.joints.names
    friction, ones = np.linspace(1.0, 0.2, len(joints)), np.ones(len(joints))  # [Nm]
    check = MeasurementCheck(loop.joints, 4.0 * ones, friction, 100.0)
    loop.set_measurement_check(check)
    state = JointState(len(joints), np.zeros((3, len(joints))))
    for target in (0.0, 0.0, 0.05, 0.05):
        check.check_following(state, target * ones, 10.0 * ones, 0.02)
    found = watched.report()[STANDING]
    assert found.message == f"nearest to its bound: {joints[-1]}, 0.50 of 0.60 Nm"
    assert found.values[f"{joints[0]} [Nm]"] == "0.50 of 3.00"
    assert len(found.values) == len(joints)


def test_overruns_warn_as_long_as_they_come(watched) -> None:
    watched.loop_thread.statistics.overruns = 3
    first = watched.report()[TIMING]
    assert (first.level, first.message) == (WARN, "3 overruns since the last report")
    assert first.codes
    watched.loop_thread.statistics.overruns = 4
    one = watched.report()[TIMING]
    assert (one.level, one.message) == (WARN, "1 overrun since the last report")
    assert one.codes
    watched.rig.tick()
    assert watched.report()[TIMING].level is OK


def test_ticks_that_were_never_published_are_reported(watched) -> None:
    watched.overwritten = 3
    watched.rig.tick()
    found = watched.report()[TIMING]
    assert (found.level, found.values["not published"]) == (OK, "3")


def test_a_loop_that_stands_still_is_an_error_with_its_fix(watched) -> None:
    watched.report()
    watched.report()
    found = watched.report()[TIMING]
    assert found.level is ERROR
    assert "no tick for 2.0 s" in found.message
    assert found.codes


def test_a_joint_is_named_while_its_command_is_limited(watched) -> None:
    rig = watched.rig
    rig.run("torque")
    rig.controllers["torque"].behave = far_target
    rig.tick()
    found = watched.report()[LIMITS]
    assert found.level is WARN
    assert "b (" in found.message
    assert "a (" not in found.message
    rig.controllers["torque"].behave = None
    watched.report()
    rig.tick()
    assert watched.report()[LIMITS].level is OK


def far_target(state, command, now, period) -> None:
    command.array.fill(0.0)
    command.position[:] = state.position
    command.effort[1] = 100.0


def test_a_fall_is_reported_until_another_mode_is_chosen(watched) -> None:
    rig = watched.rig
    rig.run("torque")
    rig.controllers["torque"].fail["update"] = RuntimeError("broken")
    rig.tick()
    for _ in range(2):
        found = watched.report()[MODE]
        assert found.level is WARN
        assert "fallen: torque failed: RuntimeError: broken" in found.message
        assert found.codes
    rig.run("limp")
    assert watched.report()[MODE].level is OK
    assert watched.report()[MODE].values["falls"] == "1"


def test_remark_of_the_controller_in_charge_is_reported_while_it_lasts(watched) -> None:
    rig = watched.rig
    torque = rig.controllers["torque"]
    torque.remarks = "stale commands"
    rig.run("torque")
    found = watched.report()[MODE]
    assert (found.level, found.message) == (WARN, f"{rig.loop.snapshot.mode.name}: stale commands")
    torque.remarks = ""
    rig.tick()
    watched.time += SHORTEST
    assert watched.diagnostician.due() == 0.0
    assert watched.report()[MODE].level is OK
    torque.remarks = "stale commands"
    rig.tick()
    rig.run("limp")
    assert watched.report()[MODE].level is OK


@pytest.mark.parametrize(
    ("safety", "level"),
    [(SafetyLevel.WARNING, WARN), (SafetyLevel.FAULT, ERROR), (SafetyLevel.CRITICAL, ERROR)],
)
def test_a_safety_report_is_reported_with_its_flags(watched, safety, level) -> None:
    watched.rig.arm.report = SafetyReport("arm", safety, SafetyFlag.BUS_OFF, "off")
    watched.rig.tick()
    found = watched.report()["hardware: arm"]
    assert (found.level, found.message, found.source) == (level, "off", "arm")
    assert found.values == {"flags": "BUS_OFF"}


class Publications:
    """The reports of a robot over time, published as the control process does."""

    def __init__(self, watched: Watched) -> None:
        self.watched, self.times = watched, []
        self.wake = np.inf  # [s] when the timer comes
        watched.diagnostician.report()

    def at(self, time: float, level: SafetyLevel | None = None) -> None:
        """Advance the clock to `time`; the arm reports `level`, or those of the second come."""
        while self.wake <= time:
            self.watched.time, self.wake = self.wake, np.inf
            self._report_if_due()
        self.watched.time = time
        if level is None:
            self.watched.diagnostician.report()
        else:
            self.watched.rig.arm.report = SafetyReport("arm", level)
            self.watched.rig.tick()
            self._report_if_due()

    def _report_if_due(self) -> None:
        due = self.watched.diagnostician.due()
        if due == 0.0:
            self.times.append(self.watched.time)
            self.watched.diagnostician.report()
        elif due is not None:
            self.wake = self.watched.time + SHORTEST


BAD, GOOD = SafetyLevel.FAULT, SafetyLevel.OK


@pytest.mark.parametrize("phase", [0.0, 0.001, 0.05, 0.0999, 0.1, 0.5, 0.999])
def test_a_change_for_the_worse_is_reported_at_once_whatever_the_second(
    watched, phase: float
) -> None:
    publications = Publications(watched)
    publications.at(1.0)
    publications.at(1.0 + phase, BAD)
    assert publications.times == [1.0 + phase]
    publications.at(1.0 + phase + 5.0, BAD)
    assert publications.times == [1.0 + phase]


def test_a_diagnosis_beside_the_loop_is_reported_with_it_and_its_change_at_once(watched) -> None:
    watched.beside = [Diagnosis("mode manager", OK)]
    assert watched.report()["mode manager"].level is OK
    assert watched.diagnostician.due() is None
    watched.time += SHORTEST
    watched.beside = [Diagnosis("mode manager", ERROR, "fell")]
    assert watched.diagnostician.due() == 0.0
    assert watched.report()["mode manager"].message == "fell"
    assert watched.diagnostician.due() is None


def test_a_state_that_flaps_is_reported_every_tenth_of_a_second_and_at_its_end(watched) -> None:
    publications = Publications(watched)
    publications.at(1.0, BAD)
    publications.at(1.06, GOOD)
    publications.at(1.09, BAD)
    assert publications.times == [1.0]
    publications.at(1.098, GOOD)
    publications.at(1.3, GOOD)
    assert publications.times == [1.0, pytest.approx(1.198)]
    for i in range(100):
        publications.at(2.0 + 0.01 * i, BAD if i % 2 else GOOD)
    assert 8 <= len(publications.times) - 2 <= 11
    assert np.diff(publications.times).min() >= 0.0999


def test_a_change_in_the_periodic_report_is_not_published_again(watched) -> None:
    publications = Publications(watched)
    publications.at(1.0, BAD)
    publications.at(1.05, GOOD)
    publications.at(1.06)
    publications.at(1.3, GOOD)
    assert publications.times == [1.0]


def test_a_remark_that_comes_or_goes_is_a_change(watched) -> None:
    rig = watched.rig
    rig.run("torque")
    rig.tick()
    before = rig.changes
    rig.controllers["torque"].remarks = "stale commands"
    rig.tick(3)
    assert rig.changes == before + 1
    rig.controllers["torque"].remarks = ""
    rig.tick(3)
    assert rig.changes == before + 2


class Talking:
    """Mixed into scripted hardware."""

    result: Sequence[Diagnosis] | Exception = ()

    def diagnose(self) -> Sequence[Diagnosis]:
        if isinstance(self.result, Exception):
            raise self.result
        return self.result

    def watchdog_times(self) -> np.ndarray:
        return np.array([0.1, np.inf])


@pytest.fixture
def talking(rig: type[Rig], scripted_hardware: type[ScriptedHardware]) -> tuple[Watched, Any]:
    arm = type("TalkingHardware", (Talking, scripted_hardware), {})()
    watched = Watched(rig({"arm": (arm, ("a", "b"))}).start("damped"))
    watched.rig.tick()
    return watched, arm


def test_components_with_more_diagnoses_are_called(talking) -> None:
    watched, arm = talking
    arm.result = [Diagnosis("bus: arm", WARN, "hm", {"x [ms]": "1"}, "arm")]
    assert watched.report()["bus: arm"] == arm.result[0]


def test_a_mistake_in_diagnosing_ends_nothing_and_is_reported(talking) -> None:
    watched, arm = talking
    arm.result = KeyError("oops")
    found = watched.report()["bus: arm"]
    assert found.level is ERROR
    assert "oops" in found.message
    assert watched.report()[TIMING].level is OK


def test_joints_without_a_watchdog_are_named(talking) -> None:
    watched, _ = talking
    found = watched.report()[WATCHDOGS]
    assert found.message == "joints without a watchdog of their own: b"
    assert found.values == {"a [s]": "0.1", "b [s]": "none"}


def test_a_component_that_fails_to_report_its_watchdogs_counts_as_without(talking) -> None:
    watched, arm = talking
    arm.watchdog_times = lambda: 1 / 0
    found = watched.report()[WATCHDOGS]
    assert found.message == "joints without a watchdog of their own: a, b"
    assert [member.joints_without_watchdog() for member in watched.rig.group.members] == [
        ["a", "b"]
    ]


@pytest.mark.parametrize("count", [0, 1, 4, 25, 130])
def test_no_message_is_long_nor_are_there_many_of_them(count: int) -> None:
    names = [f"joint: {i}" for i in range(count)]
    arrays = [*diagnostic_arrays(Time(sec=3), [Diagnosis(name) for name in names])]
    assert [status.name for array in arrays for status in array.status] == names
    assert len(arrays) <= 8
    assert all(len(array.status) <= max(4, count / 8 + 1) for array in arrays)
    assert all(array.header.stamp.sec == 3 for array in arrays)


def test_diagnostic_message_has_all_fields_of_the_diagnosis() -> None:
    diagnosis = Diagnosis("bus: arm", ERROR, "gone", {"frames": "7"}, "arm")
    (status,) = diagnostic_array(Time(sec=3), [diagnosis]).status
    assert status.level == status.ERROR
    assert (status.name, status.message, status.hardware_id) == ("bus: arm", "gone", "arm")
    assert [(it.key, it.value) for it in status.values] == [("frames", "7")]
