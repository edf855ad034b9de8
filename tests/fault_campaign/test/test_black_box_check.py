"""The record of a fault that a file of the black box must have."""

from __future__ import annotations

from dataclasses import replace

import pytest
from fault_campaign.judging.black_box_check import Expected, kept
from fault_campaign.judging.cause import Cause
from fault_campaign.judging.fault_files import Flight

BEGIN, FAULT, END = 1000.0, 1030.0, 1032.5  # [s]
HOT = ("TEMPERATURE_LIMIT",)
CAUSES = (Cause(codes=HOT, named=("wrist",)),)
FLIGHT = Flight(BEGIN, END, ("FELL_TO_SAFETY",), ((FAULT + 0.2, "wrist", HOT),), ())
EXPECTED = Expected(fault=FAULT, until=FAULT + 1.0, causes=CAUSES, killed=False)


def test_a_file_with_the_alarm_has_kept_the_fault_with_the_time_before_and_after() -> None:
    found = kept(FLIGHT, EXPECTED)
    assert found is not None
    assert (found.before, found.after, found.missing) == (30.0, 2.5, ())


@pytest.mark.parametrize(
    "flight",
    [
        replace(FLIGHT, alarms=()),
        replace(FLIGHT, alarms=((FAULT + 0.2, "elbow", HOT),)),
        replace(FLIGHT, alarms=((FAULT + 0.2, "wrist", ("RX_TIMEOUT",)),)),
        replace(FLIGHT, alarms=((FAULT - 0.5, "wrist", HOT),)),
        replace(FLIGHT, alarms=((FAULT + 1.5, "wrist", HOT),)),
        replace(FLIGHT, begin=FAULT - 0.05),
    ],
    ids=[
        "no alarm",
        "another joint",
        "another code",
        "an earlier one",
        "a later one",
        "nothing from before",
    ],
)
def test_a_file_of_another_fault_does_not_count(flight: Flight) -> None:
    assert kept(flight, EXPECTED) is None


def test_ticks_that_are_missing_near_the_fault_are_reported() -> None:
    gaps = ((FAULT + 0.1, 0.04), (FAULT - 10.0, 0.06))
    found = kept(replace(FLIGHT, gaps=gaps), EXPECTED)
    assert found is not None
    assert found.missing == ("ticks are missing in the file: 0.040 s, +0.100 s",)


def test_the_file_of_a_killed_process_goes_to_the_last_tick_and_names_the_cause() -> None:
    killed = replace(EXPECTED, killed=True, causes=())
    reasons = ("PROCESS_KILLED",)
    flight = replace(FLIGHT, end=FAULT - 0.01, alarms=(), reasons=reasons)
    assert kept(flight, killed) is not None
    assert kept(replace(flight, end=FAULT - 0.2), killed) is None
    assert kept(replace(flight, reasons=("SAVED_ON_REQUEST",)), killed) is None
