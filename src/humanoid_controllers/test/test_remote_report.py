"""The diagnoses of commands to REMOTE."""

from __future__ import annotations

import pytest

from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_controllers.remote_report import LONGEST_REASON, PERIOD, SHORTEST, RemoteReport

FOLLOWS = "follows commands"


@pytest.fixture
def report() -> RemoteReport:
    return RemoteReport(lambda: 1)


def test_the_state_of_remote_is_reported_once_a_second(report: RemoteReport) -> None:
    report.received(0.0)
    first = report.due(FOLLOWS, 0.0)
    values = {"received": "1", "refused": "0"}
    assert first == Diagnosis("remote: commands", DiagnosisLevel.OK, FOLLOWS, values)
    assert report.due(FOLLOWS, PERIOD - 0.01) is None
    assert report.due(FOLLOWS, PERIOD) == first


def test_a_change_is_reported_soon(report: RemoteReport) -> None:
    report.due("not in charge", 0.0)
    assert report.due(FOLLOWS, SHORTEST - 0.01) is None
    changed = report.due(FOLLOWS, SHORTEST)
    assert changed is not None
    assert changed.message == FOLLOWS


def test_a_refusal_is_reported_soon_with_its_number_and_reason_and_is_kept(
    report: RemoteReport,
) -> None:
    report.due(FOLLOWS, 0.0)
    report.received(0.0)
    report.received(0.1, "joints unknown: knee")
    diagnosis = report.due(FOLLOWS, 0.2)
    assert diagnosis is not None
    assert diagnosis.level is DiagnosisLevel.WARN
    message = f"{FOLLOWS}; 1 refused, the latest (number 2): joints unknown: knee"
    assert diagnosis.message == message
    assert diagnosis.values == {"received": "2", "refused": "1", "latest refusal [s ago]": "0.1"}
    later = report.due(FOLLOWS, 60.1)
    assert later is not None
    assert (later.level, later.message) == (DiagnosisLevel.OK, message)
    assert later.values["latest refusal [s ago]"] == "60.0"


def test_a_stream_of_refusals_is_reported_once_a_second(report: RemoteReport) -> None:
    diagnoses = []
    for i in range(300):
        report.received(i * 0.01, "in another order" * 99)
        diagnoses.append(report.due(FOLLOWS, i * 0.01))
    found = [it for it in diagnoses if it is not None]
    assert len(found) == 3
    assert {it.level for it in found} == {DiagnosisLevel.WARN}
    assert max(len(it.message) for it in found) < LONGEST_REASON + 80


def test_the_report_has_the_figures_of_the_stream(report: RemoteReport) -> None:
    for i in range(5):
        report.stream.arrived(0.02 * i, i + 1)
    diagnosis = report.due(FOLLOWS, 0.1)
    assert diagnosis is not None
    assert diagnosis.values["rate [Hz]"] == "50.0"
    assert diagnosis.values["lost"] == "0"


@pytest.mark.parametrize(
    ("publishers", "level"), [(1, DiagnosisLevel.OK), (2, DiagnosisLevel.WARN)]
)
def test_commands_of_two_programs_at_once_are_reported(
    publishers: int, level: DiagnosisLevel
) -> None:
    report = RemoteReport(lambda: publishers)
    for number in range(700, 710):  # one sender alone may be out of order, by a bad network
        report.stream.arrived(0.0, number)
        report.stream.arrived(0.0, number - 690)
    mixed = report.due(FOLLOWS, 0.0)
    assert mixed is not None
    assert mixed.level is (DiagnosisLevel.WARN if publishers == 2 else DiagnosisLevel.OK)
    assert ("the commands of 2 programs alternate" in mixed.message) is (publishers == 2)
    assert ("SEVERAL_COMMANDERS" in mixed.codes) is (publishers == 2)
    report.stream.arrived(1.0, 720)
    alone = report.due(FOLLOWS, PERIOD)
    assert alone is not None
    assert (alone.level, alone.message) == (DiagnosisLevel.OK, FOLLOWS)
