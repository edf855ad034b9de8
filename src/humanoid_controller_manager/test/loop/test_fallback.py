"""The fallback replaces a failing controller in the same tick; the bad command reaches no joint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import CodeTable, Reason, ReasonedError
from humanoid_controller_manager.loop.snapshot import Phase
from humanoid_controller_manager.reason_codes import CONTROLLER_FAILED

MARK = 1.25  # a value that only the bad command holds


def _raise(state: Any, command: Any, now: float, period: float) -> None:
    command.array.fill(MARK)
    raise RuntimeError("boom")


def _exit(state: Any, command: Any, now: float, period: float) -> None:
    command.array.fill(MARK)
    raise SystemExit(2)


class _Panic(BaseException):
    """As compiled extensions in Rust raise it: no Exception."""


def _panic(state: Any, command: Any, now: float, period: float) -> None:
    command.array.fill(MARK)
    raise _Panic("panicked")


def _value(row: int, value: float) -> Any:
    def behave(state: Any, command: Any, now: float, period: float) -> None:
        command.array.fill(MARK)
        command.array[row, 1] = value

    return behave


FAILURES = {
    "raises": (_raise, "torque failed: RuntimeError: boom"),
    "calls exit()": (_exit, "torque failed: SystemExit: 2"),
    "panics": (_panic, "torque failed: _Panic: panicked"),
    "NaN position": (_value(0, np.nan), "torque gave an invalid command for b"),
    "NaN velocity": (_value(1, np.nan), "torque gave an invalid command for b"),
    "infinite effort": (_value(2, np.inf), "torque gave an invalid command for b"),
    "minus infinite effort": (_value(2, -np.inf), "torque gave an invalid command for b"),
    "negative stiffness": (_value(3, -1e-9), "torque gave an invalid command for b"),
    "negative damping": (_value(4, -1.0), "torque gave an invalid command for b"),
    "NaN damping": (_value(4, np.nan), "torque gave an invalid command for b"),
    "absurd position": (_value(0, 1.7e308), "torque gave an invalid command for b"),
}


@pytest.mark.parametrize(("behave", "reason"), FAILURES.values(), ids=FAILURES.keys())
def test_a_failing_controller_is_replaced_in_the_same_tick(
    rig: Any, behave: Any, reason: str
) -> None:
    robot = rig().start("damped")
    good = robot.run("torque")
    robot.controllers["torque"].behave = behave
    robot.arm.measured[0] = [0.3, 0.2, 0.1]

    snapshot = robot.tick()

    assert snapshot.controller == "damped"
    assert snapshot.switch_number == good.switch_number + 1
    assert (snapshot.fall.number, snapshot.fall.reason.text) == (1, reason)
    assert robot.arm.written[-1][0].tolist() == [0.3, 0.2, 0.1]
    assert np.all(robot.arm.written[-1][4] == 6.0)
    assert not any(np.any(written == MARK) for written in robot.arm.written)
    assert robot.controllers["torque"].calls[-1] == "on_deactivate"


@pytest.mark.parametrize("interface", ["velocity", "effort", "stiffness"])
@pytest.mark.parametrize(("name", "mode"), [("damped", "DAMPING"), ("limp", "ZERO_TORQUE")])
def test_a_soft_mode_commands_nothing_that_moves_a_joint(
    rig: Any, name: str, mode: str, interface: str
) -> None:
    robot = rig().start(name)
    robot.tick()

    def move(state: Any, command: Any, now: float, period: float) -> None:
        command.array.fill(0.0)
        getattr(command, interface)[1] = 1.0

    robot.controllers[name].behave = move
    snapshot = robot.tick()

    assert snapshot.fall is not None
    text = f"{name} commands stiffness, velocity or effort in {mode}, expected 0, for b"
    assert snapshot.fall.reason.text.startswith(text)
    assert snapshot.fall.reason.codes[0] == "INVALID_COMMAND"
    assert not any(np.any(written[1:4]) for written in robot.arm.written)


def test_a_fallback_that_is_in_charge_continues_where_those_before_it_fail(rig: Any) -> None:
    robot = rig().start("limp")
    robot.tick()
    robot.controllers["damped"].fail["on_activate"] = RuntimeError("boom")
    before = list(robot.controllers["limp"].calls)
    robot.loop.request_fall(Reason.of(CONTROLLER_FAILED, "stop"))
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.phase) == ("limp", Phase.RUNNING)
    assert snapshot.fall.reason.text == "stop; damped: RuntimeError: boom"
    assert robot.controllers["limp"].calls == [*before, "update"], "neither begun again nor left"


def test_the_controllers_error_is_kept_for_the_log(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    error = RuntimeError("boom")
    robot.controllers["torque"].fail["update"] = error
    assert robot.tick().fall.error is error


def test_an_error_with_a_code_of_its_own_keeps_it_behind_that_of_the_loop(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    code = CodeTable("test").add("TOO_HOT", "It is too hot.", "Let it cool down.")
    robot.controllers["torque"].fail["update"] = ReasonedError(code, "63 degrees")
    fall = robot.tick().fall
    assert fall.reason.text == "torque failed: 63 degrees"
    assert fall.reason.codes == ("CONTROLLER_FAILED", "TOO_HOT")
    assert fall.error is None, "its text says all: no traceback in the log"


class _OwnReasonError(ReasonedError):
    """Its author took the name of the base's attribute for a text."""

    def __init__(self) -> None:
        Exception.__init__(self, "boom")
        self.reason = "too hot"  # type: ignore[assignment]


def test_an_error_with_a_reason_of_a_wrong_type_does_not_end_the_loop(rig: Any) -> None:
    robot = rig().start("damped")
    robot.controllers["torque"].fail["update"] = _OwnReasonError()
    robot.ask("torque")
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.fall.reason.codes) == ("damped", ("CONTROLLER_FAILED",))


def _slow(robot: Any, periods: float) -> Any:
    def behave(state: Any, command: Any, now: float, period: float) -> None:
        robot.time += periods * period
        command.array.fill(MARK)

    return behave


def test_a_command_that_comes_five_periods_late_is_discarded_for_the_fallback(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    robot.controllers["torque"].behave = _slow(robot, 5.0)

    snapshot = robot.tick()

    assert snapshot.controller == "damped"
    assert snapshot.fall.reason.text == "torque took 50.0 ms (at most 10.0 ms)"
    assert np.all(robot.arm.written[-1][4] == 6.0)
    assert not any(np.any(written == MARK) for written in robot.arm.written)


def test_a_command_within_the_period_is_not_late(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    robot.controllers["torque"].behave = _slow(robot, 0.9)
    assert robot.tick().controller == "torque"


@pytest.mark.parametrize(("longer", "in_charge"), [(0.0049, "torque"), (0.0051, "damped")])
def test_above_200_hz_a_command_is_late_after_5_ms(rig: Any, longer: float, in_charge: str) -> None:
    robot = rig(update_rate=1000.0).start("damped")
    robot.run("torque")
    robot.controllers["torque"].behave = _slow(
        robot, 100.0 * longer
    )  # the test's ticks are 10 ms apart
    assert robot.tick().controller == in_charge


def test_a_soft_command_is_as_good_late_as_in_time(rig: Any) -> None:
    robot = rig().start("damped")

    def behave(state: Any, command: Any, now: float, period: float) -> None:
        robot.time += 5.0 * period
        command.damping.fill(6.0)

    robot.controllers["damped"].behave = behave
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.fall) == ("damped", None)
    assert np.all(robot.arm.written[-1][4] == 6.0)


def test_the_fallbacks_of_a_controller_come_before_the_common_ones(rig: Any) -> None:
    robot = rig(fallbacks={"torque": ("limp",)}).start("damped")
    robot.run("torque")
    robot.controllers["torque"].behave = _raise
    assert robot.tick().controller == "limp"


@pytest.mark.parametrize("method", ["on_activate", "update"])
def test_a_fallback_that_fails_is_followed_by_the_next_in_the_same_tick(
    rig: Any, method: str
) -> None:
    robot = rig().start("limp")
    robot.run("torque")
    robot.controllers["torque"].behave = _raise
    robot.controllers["damped"].fail[method] = RuntimeError("broken too")

    snapshot = robot.tick()

    assert snapshot.controller == "limp"
    assert "boom" in snapshot.fall.reason.text
    assert "broken too" in snapshot.fall.reason.text
    assert not robot.arm.written[-1][1:].any()


def test_all_joints_stay_limp_after_every_fallback_has_failed(rig: Any) -> None:
    robot = rig().start("limp")
    robot.run("torque")
    for controller in robot.controllers.values():
        controller.fail["update"] = RuntimeError("broken")

    first = robot.tick()

    assert (first.controller, first.mode, first.phase) == ("none", Mode.ZERO_TORQUE, Phase.RUNNING)
    assert "no fallback left" in first.fall.reason.text
    assert not robot.arm.written[-1].any()
    assert robot.tick(3).fall.number == 1
    assert not robot.arm.written[-1].any()


def test_a_working_controller_can_be_requested_when_none_is_left(rig: Any) -> None:
    robot = rig().start("limp")
    robot.run("torque")
    for controller in robot.controllers.values():
        controller.fail["update"] = RuntimeError("broken")
    robot.tick()
    robot.controllers["damped"].fail.clear()
    robot.ask_down()
    assert robot.tick().controller == "damped"


def test_falls_are_counted_and_nothing_climbs_back(rig: Any) -> None:
    robot = rig().start("damped")
    for number in (1, 2, 3):
        robot.controllers["torque"].behave = None
        robot.run("torque")
        robot.controllers["torque"].behave = _raise
        assert robot.tick().fall.number == number
        assert robot.tick(5).controller == "damped"


def test_a_request_decided_before_a_fall_is_dropped(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    number = robot.loop.snapshot.switch_number
    robot.controllers["torque"].behave = _raise
    robot.tick()
    robot.ask("torque", expected=number)
    assert robot.tick().controller == "damped"


def test_a_request_that_waits_when_damping_falls_is_dropped(rig: Any) -> None:
    """DAMPING has no fallback: the switch number stays, but the request was decided without it."""
    robot = rig().start("damped")
    robot.tick()
    ticket = robot.ask("torque")
    robot.loop.request_fall(Reason.of(CONTROLLER_FAILED, "a callback raised"))
    snapshot = robot.tick(3)
    assert (snapshot.controller, snapshot.ticket) == ("damped", ticket)
    assert snapshot.fall.number == 1
    robot.run("torque")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"safe_chain": ("absent",)}, r"safe_controllers: unknown controller 'absent'; known:"),
        ({"safe_chain": ("standby",)}, r"safe_controllers: 'standby' is STANDBY"),
        ({"fallbacks": {"remote": ("x",)}}, r"remote.fallback_controllers: unknown controller 'x'"),
        (
            {"fallbacks": {"remote": ("standby",)}},
            r"remote.fallback_controllers: 'standby' is STANDBY, expected a safe mode",
        ),
        ({"safe_chain": ("limp", "damped")}, r"'limp' \(ZERO_TORQUE\) before 'damped' \(DAMPING\)"),
        (
            {"fallbacks": {"remote": ("limp", "damped")}},
            r"remote.fallback_controllers: 'limp' \(ZERO_TORQUE\) .* Put DAMPING first",
        ),
    ],
)
def test_fallbacks_must_exist_and_be_safe_and_damp_first(
    rig: Any, options: Any, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        rig(**options)


def test_command_interface_that_a_controller_does_not_write_is_zero(rig: Any) -> None:
    def writes_all(state: Any, command: Any, now: float, period: float) -> None:
        command.array.fill(0.5)

    def writes_damping(state: Any, command: Any, now: float, period: float) -> None:
        command.damping.fill(2.0)

    robot = rig().start("damped")
    robot.controllers["torque"].behave = writes_all
    robot.controllers["remote"].behave = writes_damping
    robot.run("torque")
    robot.tick()
    robot.run("remote")
    robot.tick()
    assert np.all(robot.arm.written[-1][4] == 2.0)
    assert not robot.arm.written[-1][1:4].any()


def test_a_controller_that_rebinds_a_row_cannot_spoil_the_commands_of_others(rig: Any) -> None:
    """`command.position = x` instead of `command.position[:] = x` is a common mistake."""
    robot = rig().start("limp")

    def rebind(state: Any, command: Any, now: float, period: float) -> None:
        command.damping = np.full(3, 1.0)

    robot.controllers["torque"].behave = rebind
    robot.ask("torque")
    robot.tick()
    robot.ask_down("damped")
    robot.tick()

    assert np.all(robot.arm.written[-1][4] == 6.0)


def test_a_controller_that_replaces_the_array_is_a_failed_controller(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")

    def replace(state: Any, command: Any, now: float, period: float) -> None:
        command.array = np.zeros((5, 2))

    robot.controllers["torque"].behave = replace
    assert robot.tick().controller == "damped"


def test_a_controller_cannot_change_the_measured_state(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")

    def scribble(state: Any, command: Any, now: float, period: float) -> None:
        command.array.fill(0.0)
        state.position[:] = np.nan

    robot.controllers["torque"].behave = scribble
    snapshot = robot.tick()

    assert np.isfinite(robot.arm.written[-1]).all()
    assert np.all(snapshot.state.position == 0.5)


def test_a_controller_whose_progress_fails_does_not_end_the_loop(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("standby")
    robot.controllers["standby"].fraction = RuntimeError("lost count")
    robot.tick(2)
    assert len(robot.arm.written) == 3


@pytest.mark.parametrize("remark", [None, 3])
def test_a_remark_that_is_no_text_is_an_error_of_the_controller(rig: Any, remark: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    robot.controllers["torque"].remarks = remark
    snapshot = robot.tick()
    assert snapshot.controller == "damped"
    assert f"remark {remark}" in snapshot.fall.reason.text


def test_a_controller_that_fails_does_not_fall_back_to_itself(rig: Any) -> None:
    robot = rig(safe_chain=("damped", "limp")).start("damped")
    robot.tick()
    damped = robot.controllers["damped"]
    damped.fail["update"] = KeyError("once")
    damped.calls.clear()
    snapshot = robot.tick()
    assert snapshot.controller == "limp"
    assert damped.calls == ["update", "on_deactivate"]
    assert "no fallback left" not in snapshot.fall.reason.text


def _make_read_only(command: JointCommand) -> None:
    command.array.flags.writeable = False


def _reshape(command: JointCommand) -> None:
    command.array.shape = command.array.shape[::-1]


def _change_type(command: JointCommand) -> None:
    command.array.dtype = np.int64  # type: ignore[misc]


def _resize(command: JointCommand) -> None:
    command.array.resize((2, 2), refcheck=False)


@pytest.mark.parametrize("spoil", [_make_read_only, _reshape, _change_type, _resize])
def test_controller_that_changes_its_array_itself_leaves_the_fallback_its_own(
    rig: Any, spoil: Callable[[JointCommand], None]
) -> None:
    robot = rig().start("damped")
    robot.run("torque")

    def behave(state: JointState, command: JointCommand, *_: float) -> None:
        spoil(command)
        raise RuntimeError("boom")

    robot.controllers["torque"].behave = behave
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.fall.number) == ("damped", 1)
    assert np.all(robot.arm.written[-1][4] == 6.0)
    robot.controllers["torque"].behave = None
    assert robot.run("torque").controller == "torque"


def test_a_reshaped_command_does_not_end_the_loop(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    robot.controllers["torque"].behave = lambda state, command, *_: _reshape(command)
    snapshot = robot.tick()
    assert snapshot.fall is None
    assert robot.arm.written[-1].shape == (5, 3)


def test_a_command_that_is_kept_does_not_reach_the_next_controller(rig: Any) -> None:
    robot = rig().start("damped")
    robot.run("torque")
    kept: list[JointCommand] = []
    robot.controllers["torque"].behave = lambda state, command, *_: kept.append(command)
    robot.tick()
    robot.run("damped")

    def damp(state: JointState, command: JointCommand, *_: float) -> None:
        command.array.fill(0.0)
        command.damping[:] = 6.0
        kept[0].array.fill(MARK)

    robot.controllers["damped"].behave = damp
    snapshot = robot.tick()
    assert (snapshot.controller, snapshot.fall) == ("damped", None)
    assert np.all(robot.arm.written[-1][4] == 6.0)
