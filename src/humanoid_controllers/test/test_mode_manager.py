"""The mode manager: accepted requests, reactions to safety, statements."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY, NO_GUARD, UNKNOWN_MODE
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_control_common.rules.safety import SafetyLevel, SafetyMonitor, SafetyReport
from humanoid_controller_manager.hardware.member import Fault
from humanoid_controller_manager.loop.control_loop import SwitchRequest
from humanoid_controller_manager.loop.snapshot import Fall, Phase, Snapshot
from humanoid_controller_manager.reason_codes import CONTROLLER_FAILED
from humanoid_controllers.mode_manager.mode_manager import ModeManager

FAULT = SafetyReport("battery", SafetyLevel.FAULT, message="cell 3 low")
ALL_MODES = [Mode.ZERO_TORQUE, Mode.DAMPING, Mode.STANDBY, Mode.REMOTE]


def test_a_robot_goes_through_its_modes_by_intents(robot: Any) -> None:
    robot.enter(Mode.REMOTE)
    assert robot.modes.statement.controller == "remote_policy_controller"
    assert robot.modes.statement.switch_number == 4
    assert robot.message == ""


def test_a_rejected_intent_changes_nothing_and_gives_the_reason(robot: Any) -> None:
    answer = robot.ask(Intent.LOAD)
    snapshot = robot.tick(3)
    assert (answer.accepted, answer.message) == (
        False,
        "Rejected LOAD: requires DAMPING (currently ZERO_TORQUE)",
    )
    assert (snapshot.mode, snapshot.switch_number) == (Mode.ZERO_TORQUE, 1)
    assert robot.message == answer.message


def test_a_refusal_stays_until_the_next_accepted_intent(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    robot.ask(Intent.START_REMOTE)
    refusal = robot.message
    assert refusal == "Rejected START_REMOTE: requires STANDBY (currently DAMPING)"
    robot.tick(20)
    assert robot.message == refusal
    robot.ask(Intent.LOAD)
    assert robot.message == ""


def test_a_repeated_request_for_the_mode_in_force_changes_nothing(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.ask(Intent.ZERO_TORQUE)
    refusal, number = robot.message, robot.loop.snapshot.switch_number
    for _ in range(3):
        answer = robot.ask(Intent.LOAD)
        robot.tick(2)
        assert answer.accepted
    assert (robot.message, robot.loop.snapshot.switch_number) == (refusal, number)
    assert refusal.startswith("Rejected ZERO_TORQUE")


def test_an_unknown_mode_is_refused_with_the_known_ones(robot: Any) -> None:
    answer = robot.modes.refuse_unknown_mode(9)
    assert not answer.accepted
    assert "no mode 9" in answer.message
    for mode in Mode:
        assert f"{mode.value} {mode.name}" in answer.message
    assert robot.message == answer.message


def test_a_request_for_an_unknown_mode_does_not_hide_a_fall(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.safety.report(FAULT, robot.time)
    robot.tick(3)
    fall = robot.modes.statement.reason
    assert FELL_TO_SAFETY.name in fall.codes
    robot.modes.refuse_unknown_mode(9)
    stated = robot.modes.statement.reason
    assert set(stated.codes) == {UNKNOWN_MODE.name, *fall.codes}
    assert fall.text in stated.text


def test_start_is_refused_while_standby_moves(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    robot.ask(Intent.LOAD)
    robot.tick(20)
    answer = robot.ask(Intent.START_REMOTE)
    assert not answer.accepted
    assert "finished" in answer.message
    robot.tick(40)
    assert robot.ask(Intent.START_REMOTE).accepted


def test_locomotion_is_refused_as_no_policy_is_loaded(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    answer = robot.ask(Intent.START_LOCOMOTION)
    assert answer.message == "Rejected START_LOCOMOTION: no policy loaded: `hc policy load FILE`"
    assert robot.tick(2).mode is Mode.STANDBY


def test_what_time_cannot_change_is_named_before_an_impedance_that_is_not_confirmed(
    robot: Any,
) -> None:
    """A robot that was started for a calibration has no impedance manager."""
    robot.loop.allow_soft_modes_only()
    robot.enter(Mode.DAMPING)
    robot.hardware.confirmed = False
    robot.tick(1)
    answer = robot.ask(Intent.LOAD)
    assert not answer.accepted
    assert "start it without --calibrate" in answer.message


def test_load_is_refused_while_an_old_damping_is_not_confirmed(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    robot.tick(51)
    robot.hardware.confirmed = False
    robot.tick()
    answer = robot.ask(Intent.LOAD)
    assert not answer.accepted
    assert "impedance of DAMPING not confirmed by arm" in answer.message


@pytest.mark.parametrize("first", [Intent.LOAD, Intent.FORCE_ZERO_TORQUE])
def test_damp_takes_back_an_intent_of_the_same_tick(robot: Any, first: Intent) -> None:
    robot.enter(Mode.DAMPING)
    assert robot.ask(first).accepted
    assert robot.ask(Intent.DAMP).accepted
    assert robot.tick(3).mode is Mode.DAMPING


def test_damp_is_not_overtaken_by_another_intent_of_the_same_tick(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    assert robot.ask(Intent.DAMP).accepted
    robot.ask(Intent.START_REMOTE)
    assert robot.tick(3).mode is Mode.DAMPING


def test_a_switch_that_fails_is_reported_and_changes_nothing(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    robot.controllers[Mode.ZERO_TORQUE].fail = "on_activate"
    assert robot.ask(Intent.FORCE_ZERO_TORQUE).accepted
    assert robot.tick(2).mode is Mode.DAMPING
    assert robot.message == "Switch failed: zero_torque_controller: RuntimeError: will not start"


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("level", [SafetyLevel.FAULT, SafetyLevel.CRITICAL])
def test_a_fault_leads_to_damping_from_any_mode(robot: Any, mode: Mode, level: SafetyLevel) -> None:
    robot.enter(mode)
    robot.safety.report(SafetyReport("battery", level, message="low"), robot.time)
    robot.observe()
    assert robot.tick().mode is Mode.DAMPING
    assert f"battery reports {level.name}: low" in robot.message


@pytest.mark.parametrize("mode", ALL_MODES)
@pytest.mark.parametrize("level", [SafetyLevel.OK, SafetyLevel.WARNING])
def test_a_warning_changes_nothing(robot: Any, mode: Mode, level: SafetyLevel) -> None:
    robot.enter(mode)
    before = robot.modes.statement
    robot.safety.report(SafetyReport("battery", level, message="warm"), robot.time)
    robot.tick(3)
    assert robot.modes.statement == before


def test_a_missing_protection_is_stated_with_the_mode(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    before, codes = robot.modes.statement, (NO_GUARD.name,)
    missing = SafetyReport("wrists", SafetyLevel.WARNING, message="no guard", codes=codes)
    robot.safety.report(missing, robot.time)
    robot.tick(3)
    assert robot.modes.statement == replace(before, reason=Reason(missing.message, codes))
    robot.safety.report(SafetyReport("wrists"), robot.time)
    robot.tick(3)
    assert robot.modes.statement == before


def test_a_fault_of_the_hardware_comes_with_the_snapshot(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.hardware.fault = SafetyReport("arm", SafetyLevel.FAULT, message="hot")
    robot.tick(2)
    assert robot.mode is Mode.DAMPING
    assert "arm reports FAULT: hot" in robot.message


@pytest.mark.parametrize("method", ["read", "write"])
def test_hardware_that_raises_leads_to_damping(robot: Any, method: str) -> None:
    robot.enter(Mode.STANDBY)
    robot.hardware.fail = {method}
    robot.tick(3)
    assert robot.mode is Mode.DAMPING
    assert f"{method} broke" in robot.message


def test_a_fault_in_the_tick_of_a_request_wins(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    assert robot.ask(Intent.LOAD).accepted
    robot.safety.report(FAULT, robot.time)
    robot.observe()
    assert robot.tick(3).mode is Mode.DAMPING


def test_a_source_that_falls_silent_is_a_fault(robot_type: Any) -> None:
    robot = robot_type(deadlines={"impedance": 0.3})
    robot.enter(Mode.DAMPING)
    robot.safety.report(SafetyReport("impedance"), robot.time)
    robot.ask(Intent.LOAD)
    robot.tick(29)
    assert robot.mode is Mode.STANDBY
    robot.tick(3)
    assert robot.mode is Mode.DAMPING
    assert "impedance silent for 0.3" in robot.message


def test_only_quit_is_accepted_after_a_fall_until_the_fault_is_cleared(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.safety.report(FAULT, robot.time)
    robot.tick(2)
    robot.safety.report(SafetyReport("battery"), robot.time)
    for intent in (Intent.LOAD, Intent.ZERO_TORQUE, Intent.START_REMOTE, Intent.START_LOCOMOTION):
        answer = robot.ask(intent)
        assert not answer.accepted
        assert "clear_fault" in answer.message
        assert robot.tick(3).mode is Mode.DAMPING
    assert robot.ask(Intent.QUIT).shut_down

    cleared = robot.modes.clear_fault(robot.time)
    assert cleared.accepted
    assert cleared.message == (
        "faults cleared; the robot had fallen: battery reports FAULT: cell 3 low"
    )
    assert "nothing to clear" in robot.modes.clear_fault(robot.time).message
    assert robot.message == ""
    assert robot.ask(Intent.LOAD).accepted
    assert robot.tick(2).mode is Mode.STANDBY


def test_damp_that_comes_with_a_fall_does_not_take_its_statement_away(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.safety.report(FAULT, robot.time)
    assert robot.ask(Intent.DAMP).accepted  # requested before the loop has carried the fall out
    assert robot.tick(3).mode is Mode.DAMPING
    assert robot.message.startswith("Fell to safety")
    assert "cell 3 low" in robot.message


@pytest.mark.parametrize("failure", ["update", "nan"])
def test_a_controller_that_fails_latches_the_fall(robot: Any, failure: str) -> None:
    robot.enter(Mode.STANDBY)
    robot.controllers[Mode.STANDBY].fail = failure
    robot.tick()
    assert robot.mode is Mode.DAMPING
    assert "standby_controller" in robot.message
    robot.controllers[Mode.STANDBY].fail = ""
    assert not robot.ask(Intent.LOAD).accepted
    robot.modes.clear_fault(robot.time)
    assert robot.ask(Intent.LOAD).accepted


def test_a_request_that_repeats_never_leads_back_after_a_fall(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.safety.report(FAULT, robot.time)
    robot.tick(2)
    robot.safety.report(SafetyReport("battery"), robot.time)
    for _ in range(20):  # a source that publishes at 1 Hz
        robot.ask(Intent.LOAD)
        assert robot.tick(100).mode is Mode.DAMPING


def test_clearing_is_refused_in_a_stiff_mode(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    answer = robot.modes.clear_fault(robot.time)
    assert not answer.accepted
    assert "STANDBY" in answer.message
    assert robot.tick(3).mode is Mode.STANDBY


def test_clearing_does_not_let_requests_in_while_the_fault_is_there(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.safety.report(FAULT, robot.time)
    robot.tick(2)
    answer = robot.modes.clear_fault(robot.time)
    assert not answer.accepted
    assert "cell 3 low" in answer.message
    assert not robot.ask(Intent.LOAD).accepted
    assert robot.tick(2).mode is Mode.DAMPING


def test_clearing_sends_the_reset_to_the_hardware(robot: Any) -> None:
    resets: list[int] = []
    robot.hardware.reset_faults = lambda: resets.append(1)
    robot.enter(Mode.DAMPING)
    robot.modes.clear_fault(robot.time)
    robot.tick(3)
    assert len(resets) == 1


def test_a_second_fault_after_clearing_falls_again(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    for _ in range(3):
        robot.ask(Intent.LOAD)
        robot.tick(3)
        robot.safety.report(FAULT, robot.time)
        robot.tick(2)
        assert robot.mode is Mode.DAMPING
        robot.safety.report(SafetyReport("battery"), robot.time)
        assert robot.modes.clear_fault(robot.time).accepted


def test_damping_that_cannot_be_had_becomes_zero_torque(robot: Any) -> None:
    robot.enter(Mode.STANDBY)
    robot.controllers[Mode.DAMPING].fail = "on_activate"
    robot.safety.report(FAULT, robot.time)
    robot.tick(4)
    assert robot.mode is Mode.ZERO_TORQUE


def test_repeated_requests_for_a_failing_damping_lead_to_zero_torque(robot: Any) -> None:
    """A gamepad button that is held makes a request in every tick."""
    robot.enter(Mode.STANDBY)
    robot.controllers[Mode.DAMPING].fail = "on_activate"
    for _ in range(5):
        robot.ask(Intent.DAMP)
        robot.tick()
    assert robot.mode is Mode.ZERO_TORQUE


def test_even_when_neither_safe_controller_starts_the_robot_does_not_stay_stiff(
    robot: Any,
) -> None:
    robot.enter(Mode.STANDBY)
    robot.controllers[Mode.DAMPING].fail = "on_activate"
    robot.controllers[Mode.ZERO_TORQUE].fail = "on_activate"
    robot.safety.report(FAULT, robot.time)
    robot.tick(5)
    assert robot.mode is Mode.ZERO_TORQUE
    assert not robot.hardware.written[-1].any()


def test_quit_is_refused_in_a_stiff_mode_and_accepted_in_the_safe_ones(robot: Any) -> None:
    assert robot.ask(Intent.QUIT).shut_down
    robot.enter(Mode.STANDBY)
    answer = robot.ask(Intent.QUIT)
    assert not answer.accepted
    assert not answer.shut_down
    robot.ask(Intent.DAMP)
    robot.tick()
    assert robot.ask(Intent.QUIT).shut_down


# The mode manager alone, with a loop whose snapshots a test gives.


def _snapshot(mode: Mode, number: int, **changes: Any) -> Snapshot:
    values: dict[str, Any] = {
        "tick": number,
        "now": 0.0,
        "measured": 0.0,
        "measured_at": 0,
        "state_array": np.zeros((3, 1)),
        "command_array": JointCommand(1).array,
        "controller": mode.name,
        "mode": mode,
        "switch_number": number,
        "phase": Phase.RUNNING,
        "progress": None,
        "remark": "",
        "unconfirmed": "",
        "reports": (),
        "fault": None,
        "fall": None,
        "ticket": 0,
        "refusal": None,
    }
    return Snapshot(**{**values, **changes})


@dataclass
class ShownLoop:
    """Returns the next of `shown` at every reading, at the end always the last one."""

    shown: list[Snapshot]
    requests: list[SwitchRequest] = field(default_factory=list)
    joints: JointSet = field(default_factory=lambda: JointSet(("joint",)))

    @property
    def snapshot(self) -> Snapshot:
        return self.shown.pop(0) if len(self.shown) > 1 else self.shown[0]

    def request(self, request: SwitchRequest) -> None:
        self.requests.append(request)

    def request_fault_reset(self) -> None:
        """Nothing to reset."""

    def refusal_of(self, controller: str) -> Reason:
        return NO_REASON


CONTROLLERS = {mode: mode.name for mode in Mode if mode is not Mode.LOCOMOTION}


@pytest.mark.parametrize("looks_before", [1, 2, 3])
def test_a_fall_between_two_checks_of_one_decision_is_detected(looks_before: int) -> None:
    """The loop continues in its own thread while the mode manager decides."""
    standby = _snapshot(Mode.STANDBY, 3)
    fallen = _snapshot(
        Mode.DAMPING, 4, fall=Fall(1, Reason.of(CONTROLLER_FAILED, "standby failed"))
    )
    loop = ShownLoop([*[standby] * looks_before, fallen])
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())

    modes.handle(Intent.LOAD, 0.0)

    climbing = [r for r in loop.requests if r.controller == "STANDBY" and r.expected_number == 4]
    assert climbing == []


def test_a_fall_is_not_stated_before_its_reason_is_known() -> None:
    """The loop falls between the reading of the mode manager and its statement."""
    standby = _snapshot(Mode.STANDBY, 3)
    fallen = _snapshot(
        Mode.DAMPING, 4, fall=Fall(1, Reason.of(CONTROLLER_FAILED, "standby failed"))
    )
    modes = ModeManager(ShownLoop([standby, fallen]), CONTROLLERS.get, SafetyMonitor())
    modes.observe(0.0)
    assert (modes.statement.mode, modes.statement.reason) == (Mode.STANDBY, NO_REASON)
    modes.observe(0.1)
    assert modes.statement.mode is Mode.DAMPING
    assert "standby failed" in modes.statement.reason.text


@pytest.mark.parametrize("looks_before", [1, 2])
def test_a_fall_while_clearing_is_not_cleared_away(looks_before: int) -> None:
    damping = _snapshot(Mode.DAMPING, 3)
    fallen = _snapshot(Mode.DAMPING, 4, fall=Fall(1, Reason.of(CONTROLLER_FAILED, "again")))
    loop = ShownLoop([*[damping] * looks_before, fallen])
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())
    modes.clear_fault(0.0)
    modes.observe(0.0)
    assert not modes.handle(Intent.LOAD, 0.0).accepted


def test_a_fall_that_was_observed_and_cleared_does_not_count_again() -> None:
    loop = ShownLoop(
        [_snapshot(Mode.DAMPING, 4, fall=Fall(1, Reason.of(CONTROLLER_FAILED, "once")))]
    )
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())
    modes.observe(0.0)
    assert modes.clear_fault(0.0).accepted
    modes.observe(0.1)
    assert modes.handle(Intent.LOAD, 0.1).accepted


def test_switch_requests_have_the_expected_switch_number_and_growing_tickets() -> None:
    loop = ShownLoop([_snapshot(Mode.DAMPING, 7)])
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())
    modes.handle(Intent.LOAD, 0.0)
    modes.handle(Intent.FORCE_ZERO_TORQUE, 0.0)
    assert [r.expected_number for r in loop.requests] == [7, 7]
    assert loop.requests[0].ticket < loop.requests[1].ticket


def test_the_way_down_carries_no_number() -> None:
    loop = ShownLoop([_snapshot(Mode.STANDBY, 7)])
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())
    modes.handle(Intent.DAMP, 0.0)
    assert loop.requests == [SwitchRequest("DAMPING", None, 1)]


def test_a_way_down_that_is_not_answered_yet_is_not_requested_again() -> None:
    loop = ShownLoop([_snapshot(Mode.STANDBY, 7)])
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())
    for _ in range(3):
        modes.handle(Intent.DAMP, 0.0)
    assert loop.requests == [SwitchRequest("DAMPING", None, 1)]


def test_a_stiff_mode_found_while_latched_is_left_again() -> None:
    """The rule is about the mode in force, not about the source of the request."""
    shown = ShownLoop(
        [_snapshot(Mode.DAMPING, 3, fall=Fall(1, Reason.of(CONTROLLER_FAILED, "fell")))]
    )
    modes = ModeManager(shown, CONTROLLERS.get, SafetyMonitor())
    modes.observe(0.0)
    shown.shown = [_snapshot(Mode.STANDBY, 4, fall=Fall(1, Reason.of(CONTROLLER_FAILED, "fell")))]
    modes.observe(0.1)
    assert shown.requests[-1:] == [SwitchRequest("DAMPING", None, 1)]


def test_a_switch_on_its_way_is_taken_back_by_a_fault_found_in_damping() -> None:
    """The loop could carry it out after the fault: the robot would be stiff and latched."""
    shown = ShownLoop([_snapshot(Mode.DAMPING, 3)])
    modes = ModeManager(shown, CONTROLLERS.get, SafetyMonitor())
    assert modes.handle(Intent.LOAD, 0.0).accepted
    assert [request.controller for request in shown.requests] == ["STANDBY"]
    report = SafetyReport("arm", SafetyLevel.FAULT)
    shown.shown = [_snapshot(Mode.DAMPING, 3, reports=(report,))]
    modes.observe(0.1)
    assert shown.requests[-1] == SwitchRequest("DAMPING", None, 2)


def test_damp_is_open_in_a_stiff_mode_whatever_is_latched() -> None:
    shown = ShownLoop([_snapshot(Mode.STANDBY, 3)])
    modes = ModeManager(shown, CONTROLLERS.get, SafetyMonitor())
    modes.handle(Intent.DAMP, 0.0)
    shown.requests.clear()
    # A fault while the loop has not yet carried out anything.
    monitor_report = SafetyReport("arm", SafetyLevel.FAULT)
    shown.shown = [_snapshot(Mode.STANDBY, 3, reports=(monitor_report,))]
    modes.observe(0.1)
    assert modes.handle(Intent.DAMP, 0.2).accepted
    # The fault has passed. DAMP was no clearing of it.
    shown.shown = [_snapshot(Mode.DAMPING, 4, ticket=9, reports=(SafetyReport("arm"),))]
    modes.observe(0.3)
    assert modes.statement.reason.text.endswith("call clear_fault before the next request")
    assert not modes.handle(Intent.LOAD, 0.3).accepted


def test_later_falls_do_not_hide_the_cause_of_the_first_fall() -> None:
    loop = ShownLoop(
        [_snapshot(Mode.DAMPING, 3, fall=Fall(1, Reason.of(CONTROLLER_FAILED, "cable off")))]
    )
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())
    modes.observe(0.0)
    for number, reason in enumerate(("elbow jumped", "elbow jumped", "wrist jumped"), 2):
        loop.shown = [
            _snapshot(Mode.DAMPING, 3, fall=Fall(number, Reason.of(CONTROLLER_FAILED, reason)))
        ]
        modes.observe(0.1 * number)
        text = f"cable off; then: {reason}"
        assert modes.fall.text == text
        assert modes.statement.reason.text.startswith(f"Fell to safety: {text}; call ")
    assert modes.clear_fault(1.0).accepted
    loop.shown = [_snapshot(Mode.DAMPING, 3, fall=Fall(5, Reason.of(CONTROLLER_FAILED, "hot")))]
    modes.observe(1.1)
    assert modes.fall.text == "hot"


def test_the_cause_of_a_fall_says_what_its_source_has_found_out_since() -> None:
    def report(source: str, *codes: str) -> SafetyReport:
        return SafetyReport(source, SafetyLevel.FAULT, message=" ".join(codes), codes=codes)

    loop = ShownLoop([_snapshot(Mode.STANDBY, 3, reports=(report("ring", "DRIVE_FAULT"),))])
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())
    modes.observe(0.0)
    known = report("ring", "DRIVE_ERROR_8500", "DRIVE_FAULT")
    for reports in (known,), (report("can", "MOTOR_FAULT", "DRIVE_FAULT"), known):
        loop.shown = [_snapshot(Mode.DAMPING, 4, reports=reports)]
        modes.observe(0.1)
        expected = ("SAFETY_SOURCE_FAULT", "DRIVE_ERROR_8500", "DRIVE_FAULT")
        assert modes.fall.codes == expected
        assert modes.statement.reason.codes == ("FELL_TO_SAFETY", *expected)
    loop.shown = [_snapshot(Mode.DAMPING, 4, reports=(report("ring", "CABLE", "DRIVE_FAULT"),))]
    modes.observe(0.2)
    assert modes.fall.codes == expected, "a later problem does not hide the cause"


def test_without_a_damping_controller_a_fault_does_not_crash_the_mode_manager() -> None:
    report = SafetyReport("arm", SafetyLevel.FAULT)
    loop = ShownLoop([_snapshot(Mode.STANDBY, 3, reports=(report,))])
    modes = ModeManager(loop, {Mode.ZERO_TORQUE: "limp", Mode.STANDBY: "s"}.get, SafetyMonitor())
    modes.observe(0.0)
    assert [r.controller for r in loop.requests] == ["limp"]


def test_a_fault_that_lasted_one_tick_between_two_checks_is_detected() -> None:
    report = SafetyReport("arm", SafetyLevel.FAULT, message="hiccup")
    loop = ShownLoop([_snapshot(Mode.STANDBY, 3, fault=Fault(1, report))])
    modes = ModeManager(loop, CONTROLLERS.get, SafetyMonitor())
    modes.observe(0.0)
    assert loop.requests == [SwitchRequest("DAMPING", None, 1)]
    assert "arm reported FAULT: hiccup" in modes.statement.reason.text
    loop.shown = [_snapshot(Mode.DAMPING, 4, fault=Fault(1, report), ticket=1)]
    assert modes.clear_fault(0.1).accepted
    assert modes.handle(Intent.LOAD, 0.2).accepted  # reported and cleared: it does not count again
