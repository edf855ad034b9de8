"""Check that a file of the black box keeps a fault completely."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from fault_campaign.judging.cause import Cause
from humanoid_recording.reason_codes import PROCESS_KILLED

BEFORE: Final = 0.1  # [s] of the time before the fault: a control process may just have started
NEAR: Final = 2.0  # [s] around a fault in which no tick may be missing
EARLY: Final = 0.1  # [s] an alarm may have a time before the fault: clocks are read one by one
LAST: Final = 0.06  # [s] three periods: the last tick before a control process is killed


@dataclass(frozen=True, slots=True)
class Flight:
    """Content of one file. Times in [s] since the epoch."""

    begin: float  # of the ticks
    end: float
    reasons: tuple[str, ...]  # reason codes of the file
    alarms: tuple[tuple[float, str, tuple[str, ...]], ...]  # time, text and reason codes
    gaps: tuple[tuple[float, float], ...]  # missing ticks: time and length


@dataclass(frozen=True, slots=True)
class Expected:
    """A fault that must be in a file."""

    fault: float  # [s] since the epoch
    until: float  # [s] latest time of the alarm
    causes: tuple[Cause, ...]  # reasons, one of which the alarm must have
    killed: bool  # the control process is killed: the file has no alarm, but the last tick


@dataclass(frozen=True, slots=True)
class FileCoverage:
    """Content of a file about one fault."""

    before: float  # [s]
    after: float  # [s]
    missing: tuple[str, ...]  # ticks


def kept(flight: Flight, expected: Expected) -> FileCoverage | None:
    """Return the record of a fault in `flight`; None if another file must cover it."""
    if flight.begin > expected.fault - BEFORE:
        return None
    if not (_has_the_end(flight, expected) if expected.killed else _has_an_alarm(flight, expected)):
        return None
    return FileCoverage(
        before=expected.fault - flight.begin,
        after=flight.end - expected.fault,
        missing=tuple(
            f"ticks are missing in the file: {length:.3f} s, {at - expected.fault:+.3f} s"
            for at, length in flight.gaps
            if abs(at - expected.fault) < NEAR
        ),
    )


def _has_the_end(flight: Flight, expected: Expected) -> bool:
    return flight.end > expected.fault - LAST and PROCESS_KILLED.name in flight.reasons


def _has_an_alarm(flight: Flight, expected: Expected) -> bool:
    return any(
        expected.fault - EARLY < at < expected.until
        and any(cause.fits(codes, text) for cause in expected.causes)
        for at, text, codes in flight.alarms
    )
