"""The safety monitor: sources that forbid stiff modes, and the end of this."""

from __future__ import annotations

import pytest

from humanoid_control_common.rules.reasons import NO_REASON
from humanoid_control_common.rules.safety import (
    SafetyFlag,
    SafetyLevel,
    SafetyMonitor,
    SafetyReport,
)


def _report(
    level: SafetyLevel,
    source: str = "bus",
    message: str = "",
    flags: SafetyFlag = SafetyFlag.NONE,
) -> SafetyReport:
    return SafetyReport(source, level, flags, message)


@pytest.mark.parametrize(
    ("level", "forbidden"),
    [
        (SafetyLevel.OK, False),
        (SafetyLevel.WARNING, False),
        (SafetyLevel.FAULT, True),
        (SafetyLevel.CRITICAL, True),
    ],
)
def test_fault_and_critical_forbid_stiff_modes(level: SafetyLevel, forbidden: bool) -> None:
    monitor = SafetyMonitor()
    monitor.report(_report(level, message="hot"), 0.0)
    assert monitor.problem(0.0).text == (f"bus reports {level.name}: hot" if forbidden else "")


def test_without_sources_there_is_no_problem() -> None:
    assert SafetyMonitor().problem(1e6) == NO_REASON


@pytest.mark.parametrize("better", [SafetyLevel.OK, SafetyLevel.WARNING])
def test_a_source_that_is_well_again_forbids_nothing(better: SafetyLevel) -> None:
    monitor = SafetyMonitor()
    monitor.report(_report(SafetyLevel.FAULT), 0.0)
    monitor.report(_report(better), 0.1)
    assert monitor.problem(0.2).text == ""


def test_a_fault_does_not_fade_by_itself() -> None:
    monitor = SafetyMonitor()
    monitor.report(_report(SafetyLevel.FAULT), 0.0)
    assert monitor.problem(1e6).text != ""


def test_sources_are_kept_apart_and_all_reported() -> None:
    monitor = SafetyMonitor()
    monitor.report(_report(SafetyLevel.FAULT, "bus", "hot"), 0.0)
    monitor.report(_report(SafetyLevel.CRITICAL, "battery", "low"), 0.0)
    monitor.report(_report(SafetyLevel.OK, "imu"), 0.0)
    assert monitor.problem(0.0).text == "bus reports FAULT: hot; battery reports CRITICAL: low"
    monitor.report(_report(SafetyLevel.OK, "bus"), 0.1)
    assert monitor.problem(0.1).text == "battery reports CRITICAL: low"


@pytest.mark.parametrize(
    ("flags", "details"),
    [
        (SafetyFlag.NONE, ["no details"]),
        (SafetyFlag.MOTOR_FAULT, ["MOTOR_FAULT"]),
        (SafetyFlag.BUS_OFF | SafetyFlag.RX_TIMEOUT, ["BUS_OFF", "RX_TIMEOUT"]),
    ],
)
def test_a_report_without_a_message_is_described_by_its_flags(
    flags: SafetyFlag, details: list[str]
) -> None:
    monitor = SafetyMonitor()
    monitor.report(_report(SafetyLevel.FAULT, flags=flags), 0.0)
    problem = monitor.problem(0.0).text
    assert problem.startswith("bus reports FAULT: ")
    named = {name for name in (*SafetyFlag.__members__, "no details") if name in problem}
    assert named == set(details)


def test_a_source_with_a_deadline_may_be_silent_that_long() -> None:
    monitor = SafetyMonitor({"bus": 0.5})
    monitor.report(_report(SafetyLevel.OK), 10.0)
    assert monitor.problem(10.5).text == ""
    assert monitor.problem(10.75).text == "bus silent for 0.75 s (deadline 0.5 s)"


def test_a_source_without_a_report_has_its_deadline_from_the_first_check() -> None:
    monitor = SafetyMonitor({"bus": 0.5})
    assert monitor.problem(100.0).text == ""
    assert monitor.problem(100.5).text == ""
    assert "bus silent" in monitor.problem(100.6).text


def test_a_source_that_reports_again_is_no_longer_silent() -> None:
    monitor = SafetyMonitor({"bus": 0.5})
    monitor.report(_report(SafetyLevel.OK), 0.0)
    assert monitor.problem(1.0).text != ""
    monitor.report(_report(SafetyLevel.OK), 1.0)
    assert monitor.problem(1.2).text == ""


def test_a_source_without_a_deadline_may_be_silent_for_ever() -> None:
    monitor = SafetyMonitor({"bus": 0.5})
    monitor.report(_report(SafetyLevel.OK, "imu"), 0.0)
    monitor.report(_report(SafetyLevel.OK, "bus"), 1e6)
    assert monitor.problem(1e6).text == ""


def test_a_source_that_repeats_its_report_may_not_fall_silent() -> None:
    monitor = SafetyMonitor(default_deadline=2.0)
    for now in (0.0, 1.0, 2.0):
        monitor.report(_report(SafetyLevel.OK), now)
    assert monitor.problem(4.0).text == ""
    assert monitor.problem(4.5).text == "bus silent for 2.50 s (deadline 2 s)"
    monitor.report(_report(SafetyLevel.OK), 5.0)
    assert monitor.problem(5.0).text == ""


def test_a_source_that_reports_changes_only_may_be_silent_for_ever() -> None:
    monitor = SafetyMonitor(default_deadline=2.0)
    monitor.report(_report(SafetyLevel.WARNING), 0.0)
    monitor.report(_report(SafetyLevel.OK), 1.0)
    monitor.report(_report(SafetyLevel.OK), 100.0)
    assert monitor.problem(1e6).text == ""


def test_a_latched_report_received_again_does_not_make_its_source_periodic() -> None:
    monitor = SafetyMonitor(default_deadline=2.0)
    for now in (0.0, 0.1, 100.0, 101.0):  # by the publisher before a restart, and by the new one
        monitor.report(_report(SafetyLevel.OK), now)
    assert monitor.problem(1e6).text == ""


def test_a_deadline_of_ones_own_is_not_replaced_by_the_common_one() -> None:
    monitor = SafetyMonitor({"bus": 10.0}, default_deadline=2.0)
    for now in (0.0, 1.0, 2.0):
        monitor.report(_report(SafetyLevel.OK), now)
    assert monitor.problem(9.0).text == ""
    assert "deadline 10 s" in monitor.problem(13.0).text


def test_a_silent_source_that_reported_a_fault_is_reported_as_both() -> None:
    monitor = SafetyMonitor({"bus": 0.5})
    monitor.report(_report(SafetyLevel.FAULT, message="hot"), 0.0)
    assert (
        monitor.problem(1.0).text
        == "bus reports FAULT: hot; bus silent for 1.00 s (deadline 0.5 s)"
    )


def test_levels_and_flags_are_numbered_as_in_the_message() -> None:
    assert [level.value for level in SafetyLevel] == [0, 1, 2, 3]
    bits = {flag.name: flag.value for flag in SafetyFlag}
    assert bits == {
        "BUS_OFF": 1 << 0,
        "RX_TIMEOUT": 1 << 1,
        "TX_QUEUE_OVERRUN": 1 << 2,
        "MOTOR_FAULT": 1 << 3,
        "TEMPERATURE_LIMIT": 1 << 4,
        "INVALID_FRAME": 1 << 5,
    }


def test_a_flood_of_sources_is_a_fault_and_does_not_grow() -> None:
    monitor = SafetyMonitor()
    for i in range(1000):
        monitor.report(SafetyReport(f"source {i}"), 0.0)
    assert "more than 32 safety sources" in monitor.problem(0.0).text
    assert len(monitor._reports) == 33


def test_of_many_problems_three_are_reported() -> None:
    monitor = SafetyMonitor()
    for i in range(10):
        monitor.report(SafetyReport(f"source {i}", SafetyLevel.FAULT), 0.0)
    assert monitor.problem(0.0).text.endswith("source 2 reports FAULT: no details; and 7 more")
