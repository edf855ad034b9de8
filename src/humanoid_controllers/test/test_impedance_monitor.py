"""The interlock on the impedance manager: stiff modes need confirmed gains."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyMonitor
from humanoid_controllers.mode_manager.impedance_monitor import (
    GONE,
    ImpedanceMonitor,
    ImpedanceReport,
)
from humanoid_controllers.mode_manager.mode_manager import ModeManager

PERIOD = 0.01  # [s] of a tick of the robot


class WatchedRobot:
    """A robot whose mode manager has an impedance manager, which reports in every tick."""

    def __init__(self, robot: Any) -> None:
        self.robot = robot
        self.monitor = ImpedanceMonitor()
        robot.modes = ModeManager(
            robot.loop, robot.modes._controller_of, SafetyMonitor(), self.monitor
        )
        self.reporting = True
        self.armed = True
        self.confirming = True
        self.message = ""

    def report(self, **changes: Any) -> None:
        snapshot = self.robot.loop.snapshot
        values: dict[str, Any] = {
            "armed": self.armed,
            "confirmed": self.confirming,
            "mode": int(snapshot.mode),
            "switch_number": snapshot.switch_number,
            "message": self.message,
        }
        self.monitor.reported(ImpedanceReport(**(values | changes)), self.robot.time)

    def run(self, seconds: float) -> WatchedRobot:
        for _ in range(round(seconds / PERIOD)):
            self.robot.tick()
            if self.reporting:
                self.report()
                self.robot.observe()
        return self

    def enter(self, mode: Mode) -> WatchedRobot:
        ways = {Mode.DAMPING: [Intent.DAMP], Mode.STANDBY: [Intent.DAMP, Intent.LOAD]}
        ways[Mode.REMOTE] = [*ways[Mode.STANDBY], Intent.START_REMOTE]
        for intent in ways[mode]:
            answer = self.robot.ask(intent)
            assert answer.accepted, answer.message
            self.run(0.6)
        assert self.robot.mode is mode
        return self


@pytest.fixture
def watched(robot: Any) -> WatchedRobot:
    return WatchedRobot(robot)


def test_a_robot_goes_through_its_modes_while_they_are_confirmed(watched: WatchedRobot) -> None:
    watched.run(0.1).enter(Mode.REMOTE).run(5.0)
    assert watched.robot.mode is Mode.REMOTE
    assert watched.robot.message == ""


def test_silence_before_the_first_statement_is_no_fault_but_no_stiff_mode_is_entered(
    watched: WatchedRobot,
) -> None:
    watched.reporting = False
    watched.run(10.0)
    assert watched.robot.message == "stiff until armed"
    assert watched.robot.ask(Intent.DAMP).accepted  # not latched
    watched.run(0.6)
    answer = watched.robot.ask(Intent.LOAD)
    assert answer.message == "Rejected LOAD: no word from the impedance manager yet"
    assert watched.run(0.1).robot.mode is Mode.DAMPING


def test_until_the_drives_are_armed_the_statement_reports_them_as_stiff(
    watched: WatchedRobot,
) -> None:
    watched.armed = watched.confirming = False
    watched.run(0.1)
    assert watched.robot.message == "stiff until armed"
    watched.robot.ask(Intent.LOAD)
    assert watched.robot.message == (
        "Rejected LOAD: requires DAMPING (currently ZERO_TORQUE); stiff until armed"
    )
    watched.armed = watched.confirming = True
    watched.run(0.1)
    assert "stiff until armed" not in watched.robot.message


def test_a_drive_that_is_lost_after_the_arming_is_not_called_stiff(watched: WatchedRobot) -> None:
    watched.run(0.1).enter(Mode.DAMPING)
    watched.armed = watched.confirming = False  # behind a cut cable it has no torque
    watched.run(0.1)
    assert watched.robot.message == "not all drives are armed: without torque or stiff"
    watched.armed = watched.confirming = True
    watched.run(0.1)
    assert watched.robot.message == ""


def _refused(watched: WatchedRobot, intent: Intent) -> str:
    before = watched.robot.mode
    answer = watched.robot.ask(intent)
    assert not answer.accepted
    watched.robot.tick(3)
    assert watched.robot.mode is before
    return str(answer.message)


def test_load_is_refused_while_damping_is_not_confirmed(watched: WatchedRobot) -> None:
    watched.run(0.1).enter(Mode.DAMPING)
    watched.confirming, watched.message = False, "joint3: no answer"
    watched.run(0.1)
    assert _refused(watched, Intent.LOAD) == (
        "Rejected LOAD: impedance of DAMPING (switch 2) not confirmed by the impedance manager: "
        "joint3: no answer"
    )


@pytest.mark.parametrize("changes", [{"mode": 2}, {"switch_number": 1}, {"switch_number": 3}])
def test_load_is_refused_when_something_else_is_confirmed(
    watched: WatchedRobot, changes: dict[str, int]
) -> None:
    watched.run(0.1).enter(Mode.DAMPING)
    watched.report(**changes)
    assert "impedance of DAMPING (switch 2) not confirmed" in _refused(watched, Intent.LOAD)


@pytest.mark.parametrize(("ticks", "refused"), [(29, False), (32, True)])
def test_a_confirmation_counts_for_300_ms_after_its_arrival(
    watched: WatchedRobot, ticks: int, refused: bool
) -> None:
    watched.run(0.1).enter(Mode.DAMPING)
    watched.reporting = False
    watched.run(ticks * PERIOD)
    answer = watched.robot.ask(Intent.LOAD)
    assert answer.accepted is not refused
    if refused:
        assert "impedance manager silent for 0.32 s (deadline 0.3 s)" in answer.message


def test_start_is_refused_while_standby_is_not_confirmed(watched: WatchedRobot) -> None:
    watched.run(0.1).enter(Mode.STANDBY)
    watched.confirming = False
    watched.run(0.1)
    assert "impedance of STANDBY" in _refused(watched, Intent.START_REMOTE)


@pytest.mark.parametrize("mode", [Mode.STANDBY, Mode.REMOTE])
def test_silence_in_a_stiff_mode_leads_to_damping_and_is_latched(
    watched: WatchedRobot, mode: Mode
) -> None:
    watched.run(0.1).enter(mode)
    watched.reporting = False
    watched.run(0.28)
    assert watched.robot.mode is mode
    watched.run(0.06)
    assert watched.robot.mode is Mode.DAMPING
    assert "Fell to safety: impedance manager silent for 0.3" in watched.robot.message
    watched.reporting = True
    watched.run(0.1)
    assert "clear_fault" in _refused(watched, Intent.LOAD)
    assert watched.robot.modes.clear_fault(watched.robot.time).accepted
    watched.enter(Mode.STANDBY)


def test_drives_that_were_never_armed_are_reported_when_their_manager_is_gone() -> None:
    monitor = ImpedanceMonitor()
    monitor.reported(ImpedanceReport(False, False, 0, 0, "waiting"), 0.0)
    monitor.problem(Mode.DAMPING, 1, GONE + 0.1)
    assert monitor.note.text == (
        "impedance manager silent: no stiff mode until it reports again; stiff until armed"
    )


def test_silence_in_a_soft_mode_is_no_fault(watched: WatchedRobot) -> None:
    watched.run(0.1).enter(Mode.DAMPING)
    watched.reporting = False
    watched.run(1.9)
    assert watched.robot.message == ""
    watched.run(3.0)
    assert watched.robot.mode is Mode.DAMPING
    assert watched.robot.message == "impedance manager silent: no stiff mode until it reports again"
    watched.reporting = True
    watched.run(0.1).enter(Mode.STANDBY)


def test_a_stiff_mode_that_is_no_longer_confirmed_is_left(watched: WatchedRobot) -> None:
    watched.run(0.1).enter(Mode.STANDBY)
    watched.confirming, watched.message = False, "joint3: no answer"
    watched.run(0.9)
    assert watched.robot.mode is Mode.STANDBY
    watched.run(0.2)
    assert watched.robot.mode is Mode.DAMPING
    assert "joint3: no answer" in watched.robot.message


def test_a_short_doubt_in_a_stiff_mode_is_no_reason_to_leave_it(watched: WatchedRobot) -> None:
    watched.run(0.1).enter(Mode.STANDBY)
    for _ in range(5):
        watched.confirming = False
        watched.run(0.5)
        watched.confirming = True
        watched.run(0.1)
    assert watched.robot.mode is Mode.STANDBY


def test_safety_is_looked_at_once_per_intent(robot: Any) -> None:
    class Counting(SafetyMonitor):
        looks = 0

        def problem(self, now: float) -> Reason:
            Counting.looks += 1
            return super().problem(now)

    robot.modes = ModeManager(robot.loop, robot.modes._controller_of, Counting())
    robot.ask(Intent.DAMP)
    assert Counting.looks == 1
