"""Wrong results of a component's duties are its FAULT, and the loop continues."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_control_common.tick_records.record_file import RecordStore
from humanoid_control_common.tick_records.record_ring import whole_records
from humanoid_controller_manager.controller import Progress
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.tick_recorder import tick_recorder

RATE = 100.0
RIGHT_TICKS = 50


class _Odd:
    """A foreign class without a usable repr."""

    def __repr__(self) -> str:
        raise RuntimeError("no words")

    def __bool__(self) -> bool:
        raise RuntimeError("neither")


NAN, INF, ODD = float("nan"), float("inf"), _Odd()
BUS_OFF = ReasonCode("BUS_OFF", "the bus is off", "wait")  # codes are names
FLOATS = (3.0, "x", ODD, [1.0, 1.0, 1.0], np.float64(3.0), np.ones(2), np.ones((3, 1)),
          np.ones(3, dtype=np.int64), np.ones(3, dtype=object), np.array([1.0, 1.0, INF]),
          np.array([1.0, -1.0, 1.0]))  # fmt: skip
NOT_A_NUMBER = np.array([1.0, NAN, 1.0])
WRONG: dict[str, Sequence[Any]] = {
    "effort_limit": (None, *FLOATS, NOT_A_NUMBER),
    "realized_stiffness": FLOATS,
    "impedance_confirmed": (None, "yes", 1, NAN, np.ones(3), ODD),
    "tick_correction": (None, "x", NAN, INF, np.zeros(3), 0.011, -0.011, ODD),
    "safety": (
        None, 0.0, "OK", np.zeros(3), ODD,
        SafetyReport("arm", "OK"), SafetyReport("arm", 7), SafetyReport("arm", None),  # type: ignore[arg-type]
        SafetyReport("arm", SafetyLevel.OK, None), SafetyReport("arm", SafetyLevel.OK, "hot"),  # type: ignore[arg-type]
        SafetyReport("arm", SafetyLevel.OK, SafetyFlag.NONE, None),  # type: ignore[arg-type]
        SafetyReport("arm", SafetyLevel.OK, SafetyFlag.NONE, np.zeros(3)), SafetyReport(None),  # type: ignore[arg-type]
        SafetyReport("arm", codes=None), SafetyReport("arm", codes=np.zeros(3)),  # type: ignore[arg-type]
        SafetyReport("arm", codes=(BUS_OFF,)), SafetyReport("arm", codes="BUS_OFF"),  # type: ignore[arg-type]
        SafetyReport("can0"),
    ),
    "bus_counts": (None, 3, "ab", (1,), (1, 2, 3), (NAN, 1), (1, None), (2**70, 1), ODD),
}  # fmt: skip
CASES = [(duty, i) for duty, values in WRONG.items() for i in range(len(values))]
OTHERWISE: dict[str, Callable[[], Any]] = {
    "tick_correction": lambda: 1e-4,
    "bus_counts": lambda: (3, 4),
    "idle_until": lambda: None,
}


@pytest.fixture
def plug_in(robot_type: Any, failing_system: Any, tmp_path: Path) -> Any:
    """A robot whose component has every duty, and returns `robot.wrong[duty]` if that exists."""
    wrong: dict[str, Any] = {}

    def duty_of(name: str) -> Callable[..., Any]:
        right = getattr(failing_system, name)

        def give(self: Any, *arguments: Any) -> Any:
            if name in wrong:
                return wrong[name]
            return OTHERWISE[name]() if name in OTHERWISE else right(self, *arguments)

        return give

    duties = {name: duty_of(name) for name in WRONG}
    duties["idle_until"] = lambda self, deadline: None
    kind = type("PlugIn", (failing_system,), {**duties, "counter_names": ("lost", "late")})
    robot = robot_type(hardware=kind).enter(Mode.STANDBY)
    runner = LoopThread(robot.loop, RATE, lambda snapshot: None)
    robot.recorder = tick_recorder(robot.loop, runner, RATE, "<robot/>", RecordStore(tmp_path))
    robot.wrong = wrong
    return robot


def _run(robot: Any, count: int) -> Any:
    """Run a cycle of the loop's thread, and the mode manager after it."""
    for _ in range(count):
        robot.time += 1.0 / RATE
        robot.loop.tick(robot.time, 1.0 / RATE, lambda: robot.time)
        robot.recorder.record(robot.loop.snapshot)
        assert abs(robot.loop.hardware.tick_correction()) <= 1.0 / RATE
        robot.observe()
    return robot.loop.snapshot


@pytest.mark.parametrize(("duty", "which"), CASES)
def test_a_result_of_a_wrong_kind_leads_to_damping_with_its_reason_and_the_loop_goes_on(
    plug_in: Any, duty: str, which: int
) -> None:
    robot = plug_in
    assert _run(robot, RIGHT_TICKS).mode is Mode.STANDBY
    before = robot.recorder.file.words[0], len(robot.hardware.written)
    robot.wrong[duty] = WRONG[duty][which]

    snapshot = _run(robot, 30)

    assert len(robot.hardware.written) == before[1] + 30
    assert np.isfinite(robot.hardware.written).all()
    assert snapshot.mode is Mode.DAMPING
    (report,) = snapshot.reports
    assert (report.source, report.level) == ("arm", SafetyLevel.FAULT)
    assert f"{duty} failed: found " in report.message
    assert ", expected " in report.message
    assert f"arm reports FAULT: {report.message}" in robot.message
    assert robot.loop.limits.effort_limit.tolist() == [10.0] * 3  # the last good one

    del robot.wrong[duty]
    assert _run(robot, 3).reports[0] == SafetyReport("arm")
    assert robot.modes.clear_fault(robot.time).accepted
    assert robot.ask(Intent.LOAD).accepted
    assert _run(robot, 3).mode is Mode.STANDBY


def test_the_black_box_goes_on_with_the_counts_before(plug_in: Any) -> None:
    robot = plug_in
    _run(robot, 1)
    robot.wrong["bus_counts"] = "ab"
    _run(robot, 2)
    assert whole_records(robot.recorder.file.ticks)["counters"].tolist() == [[3, 4]] * 3


def test_an_old_confirmation_is_none(plug_in: Any) -> None:
    robot = plug_in
    assert _run(robot, 1).unconfirmed == ""
    robot.wrong["impedance_confirmed"] = "yes"
    assert _run(robot, 1).unconfirmed == "arm"


def test_an_old_correction_of_the_tick_is_not_made_again(plug_in: Any) -> None:
    robot = plug_in
    assert robot.loop.hardware.tick_correction() == 1e-4
    robot.wrong["tick_correction"] = NAN
    assert robot.loop.hardware.tick_correction() == 0.0


def _progresses() -> Iterator[Any]:
    yield from (0.5, "half", (1, 2, 0.5), ODD)
    yield from (Progress(1, 2, "half"), Progress(1, 2, None), Progress(1, 2, NAN))  # type: ignore[arg-type]
    yield from (Progress(-1, 2, 0.5), Progress(1, 2**32, 0.5), Progress(0.5, 2, 0.5))  # type: ignore[arg-type]


@pytest.mark.parametrize("progress", list(_progresses()), ids=lambda it: type(it).__name__)
def test_a_progress_of_a_wrong_kind_is_its_controllers_failure(
    robot_type: Any, progress: Any
) -> None:
    robot = robot_type().enter(Mode.STANDBY)
    robot.controllers[Mode.STANDBY].inner = _Reporting(
        robot.controllers[Mode.STANDBY].inner, progress
    )
    snapshot = robot.tick(2)
    assert snapshot.mode is Mode.DAMPING
    assert "standby_controller failed: progress is " in snapshot.fall.reason.text


@pytest.mark.parametrize(
    ("found", "remark"),
    [("\udce4 is no UTF-8", "? is no UTF-8"), ("x" * 9999, f"{'x' * 2000} … (9999 characters)")],
    ids=["no UTF-8", "long"],
)
def test_texts_that_no_message_can_carry_are_made_fit(
    robot_type: Any, found: str, remark: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)  # pytest's workers cannot report such a text either
    robot = robot_type().enter(Mode.STANDBY)
    inner = robot.controllers[Mode.STANDBY].inner
    robot.controllers[Mode.STANDBY].inner = _Reporting(inner, None, found)
    snapshot = robot.tick(2)
    assert (snapshot.mode, snapshot.remark) == (Mode.STANDBY, remark)

    def fail(*arguments: Any) -> None:
        raise ValueError(found)

    inner.update = fail
    snapshot = robot.tick()
    assert snapshot.fall.reason.text == f"standby_controller failed: ValueError: {remark}"


class _SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_an_error_whose_text_raises_ends_nothing(robot_type: Any) -> None:
    robot = robot_type().enter(Mode.STANDBY)

    def fail(*arguments: Any) -> None:
        raise _SilentError

    robot.controllers[Mode.STANDBY].inner.update = fail
    snapshot = robot.tick(2)
    assert (snapshot.mode, snapshot.fall.reason.text) == (
        Mode.DAMPING, "standby_controller failed: _SilentError",
    )  # fmt: skip
    type(robot.hardware).effort_limit, kept = fail, type(robot.hardware).effort_limit
    try:
        assert robot.tick().reports[0].message == "effort_limit failed: _SilentError"
    finally:
        type(robot.hardware).effort_limit = kept


class _Reporting:
    """A controller with another progress."""

    def __init__(self, inner: Any, progress: Any, remark: str = "") -> None:
        self._inner, self.progress, self.remark = inner, progress, remark

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
