"""The records of ticks; recording never disturbs the loop."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_control_common.tick_records.latest_tick import LatestTick, latest_tick
from humanoid_control_common.tick_records.record_file import RecordStore, attach
from humanoid_control_common.tick_records.record_layout import EventKind, Word
from humanoid_control_common.tick_records.record_names import files_of_robot
from humanoid_control_common.tick_records.record_ring import (
    Event,
    events_in,
    report_of,
    whole_records,
)
from humanoid_control_common.tick_records.record_types import Records
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.tick_recorder import TickRecorder, tick_recorder

RATE = 50.0
TIMEOUT = 30.0  # [s]


class Recorded:
    """A rig whose ticks are recorded."""

    def __init__(self, rig: Any, folder: Path) -> None:
        self.rig = rig
        self.loop_thread = LoopThread(rig.loop, RATE, lambda snapshot: None)
        made = tick_recorder(rig.loop, self.loop_thread, RATE, "<robot/>", RecordStore(folder))
        assert made is not None
        self.recorder: TickRecorder = made

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.recorder.record(self.rig.tick())

    def ticks(self) -> Records:
        return whole_records(self.recorder.file.ticks)

    def events(self, *kinds: EventKind) -> list[Event]:
        return [e for e in events_in(self.recorder.file.loop_events) if e.kind in kinds]


@pytest.fixture
def record(tmp_path: Path) -> Callable[[Any], Recorded]:
    return lambda rig: Recorded(rig, tmp_path)


def test_recorded_tick_equals_the_snapshot(rig: Any, record: Callable[[Any], Recorded]) -> None:
    recorded = record(rig().start())
    recorded.loop_thread.statistics.record(0.0, 0.25)
    recorded.rig.arm.measured[:] = np.arange(9).reshape(3, 3) / 10

    def command(state: Any, command: Any, now: float, period: float) -> None:
        command.array[:] = np.arange(15).reshape(5, 3) / 100

    recorded.rig.controllers["torque"].behave = command
    recorded.rig.ask("torque")
    recorded.tick()
    (found,) = recorded.ticks()
    snapshot = recorded.rig.loop.snapshot
    assert found["state"].tolist() == snapshot.state_array.tolist()
    assert found["command"].tolist() == snapshot.command_array.tolist()
    assert len({tuple(row) for row in snapshot.command_array.tolist()}) == 5
    assert (found["tick"], found["now"]) == (snapshot.tick, snapshot.now)
    assert (found["mode"], found["switch_number"]) == (Mode.LOCOMOTION, snapshot.switch_number)
    assert found["controller"] == b"torque"
    assert found["execution"] == 0.25
    assert found["sources"].tolist() == [[0, 0]]


def test_mode_in_force_is_known_from_the_latest_tick(
    rig: Any, record: Callable[[Any], Recorded], tmp_path: Path
) -> None:
    recorded = record(rig().start())
    recorded.tick()
    recorded.rig.ask("standby")
    recorded.tick()
    at = int(recorded.ticks()[-1]["monotonic"]) / 1e9
    assert latest_tick(folder=tmp_path, clock=lambda: at) == LatestTick(Mode.STANDBY, "standby", 2)
    recorded.recorder.end()
    assert latest_tick(folder=tmp_path, clock=lambda: at) is None


def test_recorder_keeps_the_events_of_each_tick_with_their_texts(
    rig: Any, record: Callable[[Any], Recorded]
) -> None:
    recorded = record(rig().start())
    rig_ = recorded.rig
    recorded.tick()
    rig_.ask("standby")
    recorded.tick()
    rig_.ask("absent")
    recorded.tick()
    flags = SafetyFlag.MOTOR_FAULT | SafetyFlag.TEMPERATURE_LIMIT
    fault = SafetyReport("arm", SafetyLevel.FAULT, flags, "joint 'b' is hot")
    rig_.arm.report = fault
    recorded.tick()
    rig_.arm.report = SafetyReport("arm")
    rig_.controllers["standby"].fail["update"] = RuntimeError("no more")
    recorded.tick(2)
    texts = [event.text for event in recorded.events(EventKind.SWITCH)]
    assert texts == [
        "ZERO_TORQUE (limp, switch 1)",
        "STANDBY (standby, switch 2)",
        "DAMPING (damped, switch 3)",
    ]
    (refusal,) = recorded.events(EventKind.REFUSAL)
    assert "unknown controller 'absent'" in refusal.text
    (fall,) = recorded.events(EventKind.FALL)
    assert "no more" in fall.text
    reports = [report_of(event) for event in recorded.events(EventKind.REPORT)]
    assert reports == [SafetyReport("arm"), fault, SafetyReport("arm")]
    levels = recorded.ticks()["sources"][:, 0].tolist()
    assert levels == [[0, 0], [0, 0], [0, 0], [SafetyLevel.FAULT, flags], [0, 0], [0, 0]]


def test_limits_can_be_read_tick_by_tick(rig: Any, record: Callable[[Any], Recorded]) -> None:
    recorded = record(rig().start())
    recorded.rig.ask("torque")
    recorded.tick()

    def push(state: Any, command: Any, now: float, period: float) -> None:
        command.position[:] = state.position
        command.effort[1] = 1e6

    recorded.rig.controllers["torque"].behave = push
    recorded.tick(2)
    kind = recorded.recorder.file.facts.limited.index("effort")
    assert recorded.ticks()["limited"][:, kind].tolist() == [[0, 0, 0], [0, 1, 0], [0, 2, 0]]


def test_components_may_count_what_their_buses_do(
    rig: Any, scripted_hardware: Any, record: Callable[[Any], Recorded]
) -> None:
    class Counting(scripted_hardware):
        counter_names = ("lost", "late")

        def __init__(self) -> None:
            super().__init__()
            self.counts = [1, 2]

        def bus_counts(self) -> list[int]:
            self._called("bus_counts")
            return self.counts

    hardware = Counting()
    recorded = record(
        rig({"bus": (hardware, ("a",)), "mock": (scripted_hardware(), ("b",))}).start()
    )
    assert recorded.recorder.file.facts.counters == ("bus: lost", "bus: late")
    recorded.tick()
    hardware.counts = [3, 4]
    recorded.tick()
    assert recorded.ticks()["counters"].tolist() == [[1, 2], [3, 4]]


def test_a_component_that_fails_to_count_is_in_fault_and_the_recording_goes_on(
    rig: Any, scripted_hardware: Any, record: Callable[[Any], Recorded]
) -> None:
    class Counting(scripted_hardware):
        counter_names = ("lost",)

        def bus_counts(self) -> list[int]:
            self._called("bus_counts")
            return [7]

    hardware = Counting()
    recorded = record(rig({"bus": (hardware, ("a",))}).start())
    recorded.tick()
    hardware.fail["bus_counts"] = RuntimeError("no bus")
    recorded.tick(2)
    assert recorded.ticks()["counters"].tolist() == [[7], [7], [7]]
    report = recorded.rig.loop.snapshot.reports[0]
    assert report.level is SafetyLevel.FAULT
    assert report.message == "bus_counts failed: RuntimeError: no bus"


def test_a_recorder_that_fails_ends_the_recording_and_not_the_loop(
    rig: Any, record: Callable[[Any], Recorded], caplog: Any
) -> None:
    recorded = record(rig().start())
    recorded.recorder._record_changes = None  # type: ignore[assignment, method-assign]
    recorded.tick(3)
    assert len(recorded.ticks()) == 0
    assert caplog.text.count("the tick recorder failed") == 1


def test_ordered_end_removes_the_record_file(
    rig: Any, record: Callable[[Any], Recorded], tmp_path: Path
) -> None:
    recorded = record(rig().start())
    recorded.tick()
    (path,) = files_of_robot(tmp_path)
    reader = attach(path)
    assert reader.facts.pid == os.getpid()
    assert not reader.words[Word.ENDED]
    recorded.recorder.end()
    assert reader.words[Word.ENDED]
    assert files_of_robot(tmp_path) == []
    assert len(whole_records(reader.ticks)) == 1, "a reader that had it open goes on"


def test_robot_runs_without_a_tick_recorder_if_its_file_cannot_be_created(
    rig: Any, tmp_path: Path, caplog: Any
) -> None:
    rigged = rig().start()
    runner = LoopThread(rigged.loop, RATE, lambda snapshot: None)
    assert tick_recorder(rigged.loop, runner, RATE, "", RecordStore(tmp_path / "missing")) is None
    assert "no tick recorder" in caplog.text


def test_the_switch_number_begins_anew_where_messages_have_no_more_bits(
    rig: Any, tmp_path: Path
) -> None:
    """32 bits; 0 is reserved for requests. The record of a tick must also accept every number."""
    robot = rig().start()
    recorded = Recorded(robot, tmp_path)
    robot.loop._active.switch_number = 2**32 - 2
    recorded.tick()
    numbers = []
    for name in ("damped", "limp", "damped"):
        robot.ask(name)
        recorded.tick()
        numbers.append(robot.loop.snapshot.switch_number)
        assert robot.loop.snapshot.controller == name
    assert numbers == [2**32 - 1, 1, 2]
    assert recorded.ticks()["switch_number"].tolist()[-3:] == numbers


@pytest.mark.parametrize("dies", [False, True])
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_only_a_loop_that_ends_as_requested_has_ended_its_ticks(
    rig: Any, tmp_path: Path, *, dies: bool
) -> None:
    robot, ticked = rig(), threading.Event()

    def publish(snapshot: Any) -> None:
        ticked.set()
        assert not dies

    thread = LoopThread(robot.loop, RATE, publish)
    recorder = tick_recorder(robot.loop, thread, RATE, "<robot/>", RecordStore(tmp_path))
    assert recorder is not None
    thread.start("damped")
    assert ticked.wait(TIMEOUT)
    assert recorder.file.words[Word.TICKS_ENDED] == 0
    thread.stop()
    assert recorder.file.words[Word.TICKS_ENDED] == (not dies)
