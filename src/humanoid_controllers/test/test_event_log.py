"""Events of the mode manager: each change is noted once."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from humanoid_control_common.rules.modes import Mode, Statement
from humanoid_control_common.rules.reason_codes import RESET_SENT, SAFETY_SOURCE_FAULT
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_control_common.rules.safety import (
    MOST_SOURCES,
    SURPLUS,
    SafetyFlag,
    SafetyLevel,
    SafetyReport,
)
from humanoid_control_common.tick_records.record_layout import EventKind
from humanoid_controllers.mode_manager.answer import Answer
from humanoid_controllers.mode_manager.event_log import EventLog


class Recorder:
    def __init__(self) -> None:
        self.events: list[tuple[EventKind, str, int]] = []
        self.codes: list[Sequence[str]] = []

    def record_event(
        self, kind: EventKind, text: str, level: int = 0, codes: Sequence[str] = ()
    ) -> None:
        self.events.append((kind, text, level))
        self.codes.append(codes)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def notes(recorder: Recorder) -> EventLog:
    made = EventLog()
    made.recorder = recorder
    return made


def statement(message: str) -> Statement:
    return Statement(Mode.DAMPING, "damping_controller", Reason(message), 2)


def test_a_fall_is_noted_when_it_begins(notes: EventLog, recorder: Recorder) -> None:
    bus_off = Reason.of(SAFETY_SOURCE_FAULT, "bus off")
    for fall in (NO_REASON, bus_off, bus_off, NO_REASON, bus_off):
        notes.record_statement(statement(""), fall)
    assert recorder.events == [(EventKind.FALL, "bus off", SafetyLevel.FAULT)] * 2
    assert recorder.codes == [("SAFETY_SOURCE_FAULT",)] * 2


def test_statements_are_noted_when_their_text_changes(notes: EventLog, recorder: Recorder) -> None:
    for message in ("", "Rejected LOAD", "Rejected LOAD", ""):
        notes.record_statement(statement(message), NO_REASON)
    assert [text for _, text, _ in recorder.events] == ["Rejected LOAD", ""]


def test_requests_are_noted_with_their_answers(notes: EventLog, recorder: Recorder) -> None:
    notes.record_request("LOAD", Answer(True, "switching to STANDBY"))
    notes.record_request("LOAD", Answer(False, "requires DAMPING"))
    assert [text for _, text, _ in recorder.events] == [
        "LOAD: switching to STANDBY",
        "LOAD: refused: requires DAMPING",
    ]


def test_reports_of_other_processes_are_noted_when_they_change(
    notes: EventLog, recorder: Recorder
) -> None:
    fault = SafetyReport("camera", SafetyLevel.FAULT, SafetyFlag.RX_TIMEOUT, "silent")
    for report in (fault, fault, SafetyReport("camera"), fault):
        notes.record_report(report)
    assert [(text, level) for _, text, level in recorder.events] == [
        ("camera\t2\tsilent", SafetyLevel.FAULT),
        ("camera\t0\t", SafetyLevel.OK),
        ("camera\t2\tsilent", SafetyLevel.FAULT),
    ]


def test_event_log_notes_the_first_sources_once_even_if_there_are_too_many(
    notes: EventLog, recorder: Recorder
) -> None:
    for number in range(40):
        notes.record_report(SafetyReport(f"source {number}"))
    recorder.events.clear()
    for _ in range(3):
        notes.record_report(SafetyReport("source 0", SafetyLevel.FAULT))
    assert len(recorder.events) == 1


def test_repeated_reports_of_too_many_sources_are_noted_once(
    notes: EventLog, recorder: Recorder
) -> None:
    """Otherwise they would push every other event out of the record."""
    for _ in range(20):
        for number in range(MOST_SOURCES + 20):
            notes.record_report(SafetyReport(f"source {number}"))
    assert len(recorder.events) == MOST_SOURCES + 1
    text = f"{SURPLUS}\t0\tmore than 32 safety sources, now 'source 32'"
    assert recorder.events[-1] == (EventKind.REPORT, text, SafetyLevel.FAULT)


def test_event_log_without_a_recorder_ignores_events() -> None:
    notes = EventLog()
    notes.record_request("LOAD", Answer(True, "switching"))
    notes.record_statement(statement("x"), Reason.of(SAFETY_SOURCE_FAULT, "y"))


def test_a_reset_that_was_sent_is_not_noted_as_refused(notes: EventLog, recorder: Recorder) -> None:
    notes.record_request(
        "clear_fault", Answer(False, "reset sent, but bus off", (RESET_SENT.name,))
    )
    notes.record_request("clear_fault", Answer(True, "faults cleared"))
    notes.record_request("clear_fault", Answer(False, "requires DAMPING"))
    assert [text for _, text, _ in recorder.events] == [
        "clear_fault: reset sent, but bus off",
        "clear_fault: faults cleared",
        "clear_fault: refused: requires DAMPING",
    ]
