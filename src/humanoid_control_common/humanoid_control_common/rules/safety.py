"""Safety reports of sources, and the monitor that decides when they forbid stiff modes.

Levels and flag bits are those of humanoid_control_msgs/SafetyStatus.
"""

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from enum import IntEnum, IntFlag
from typing import Final

from humanoid_control_common.rules.reason_codes import (
    NO_GUARD,
    SAFETY_SOURCE_FAULT,
    SAFETY_SOURCE_SILENT,
    TOO_MANY_SAFETY_SOURCES,
)
from humanoid_control_common.rules.reasons import Reason, joined

# [s] of a heartbeat: one in ms by mistake would hardly ever stop the robot.
LONGEST_HEARTBEAT: Final = 60.0


class SafetyLevel(IntEnum):
    """Severity. WARNING is displayed; FAULT and CRITICAL lead to DAMPING."""

    OK = 0
    WARNING = 1
    FAULT = 2
    CRITICAL = 3


class SafetyFlag(IntFlag):
    """Conditions that a source observes."""

    NONE = 0
    BUS_OFF = 1  # sticky until re-activation
    RX_TIMEOUT = 2  # a joint silent for more than 200 ms
    TX_QUEUE_OVERRUN = 4
    MOTOR_FAULT = 8
    TEMPERATURE_LIMIT = 16
    INVALID_FRAME = 32


@dataclass(frozen=True, slots=True)
class SafetyReport:
    """The present observation of one source."""

    source: str
    level: SafetyLevel = SafetyLevel.OK
    flags: SafetyFlag = SafetyFlag.NONE
    message: str = ""  # for people
    codes: tuple[str, ...] = ()  # reason codes, for programs


def _names(flags: SafetyFlag) -> str:
    return "|".join(flag.name or "" for flag in flags) or "no details"


MOST_SOURCES = 32  # a robot has a handful; more are an error, and would slow every check
SURPLUS = "safety monitor"  # the source that reports in place of those beyond the limit
MOST_NAMED = 3  # reasons quoted in full
PERIODIC_AFTER = 2  # repetitions in a row; one alone may be a latched report that arrives again


def surplus(source: str, known: Collection[str]) -> SafetyReport | None:
    """Return the report in place of that of `source`, if it is one too many for `known` ones."""
    if source in known or len(known) < MOST_SOURCES:
        return None
    text = f"more than {MOST_SOURCES} safety sources, now '{source:.40}'"
    codes = (TOO_MANY_SAFETY_SOURCES.name,)
    return SafetyReport(SURPLUS, SafetyLevel.FAULT, message=text, codes=codes)


@dataclass(slots=True)
class SafetyMonitor:
    """Keeps the latest report of every source, for good, with its arrival.

    Silence of a source for longer than its entry in `deadlines` [s] is a FAULT; it counts from the
    first call with a time. A source that repeats its report within `default_deadline` [s] twice in
    a row counts as periodic: longer silence is a FAULT, too. A source that reports changes only has
    no deadline.
    """

    deadlines: dict[str, float] = field(default_factory=dict)
    default_deadline: float = math.inf
    _reports: dict[str, SafetyReport] = field(default_factory=dict, init=False)
    _arrival: dict[str, float] = field(default_factory=dict, init=False)
    _deadline_of: dict[str, float] = field(init=False)  # [s]
    _repeats: dict[str, int] = field(default_factory=dict, init=False)  # in a row

    def __post_init__(self) -> None:
        self._deadline_of = dict(self.deadlines)

    def report(self, report: SafetyReport, now: float) -> None:
        """Take a report that arrived at `now` [s]. A source beyond the limit is a FAULT."""
        report = surplus(report.source, self._reports) or report
        source = report.source
        latest = self._reports.get(source)
        repeated = latest is report or latest == report
        soon = repeated and now - self._arrival[source] <= self.default_deadline
        self._repeats[source] = self._repeats.get(source, 0) + 1 if soon else 0
        if self._repeats[source] >= PERIODIC_AFTER:
            self._deadline_of.setdefault(source, self.default_deadline)
        self._reports[source] = report
        self._arrival[source] = now

    def problem(self, now: float) -> Reason:
        """Return why stiff modes are forbidden at `now` [s], if they are."""
        reasons = [*self._faults()]
        for source, deadline in self._deadline_of.items():
            silence = now - self._arrival.setdefault(source, now)
            if silence > deadline:
                text = f"{source} silent for {silence:.2f} s (deadline {deadline:g} s)"
                reasons.append(Reason.of(SAFETY_SOURCE_SILENT, text))
        more = len(reasons) - MOST_NAMED
        found = joined(reasons[:MOST_NAMED])
        return found.worded(f"{found}; and {more} more") if more > 0 else found

    @property
    def unprotected(self) -> Reason:
        """Which protection is missing, by the sources' warnings; the robot may still move."""
        return joined(
            Reason(report.message, report.codes)
            for report in self._reports.values()
            if NO_GUARD.name in report.codes
        )

    def explained(self, cause: Reason) -> Reason:
        """Return what the source of `cause` says of it now, if that is more; else `cause`.

        A source names more precise codes first: the error of a drive before its being in fault.
        """
        own, before = cause.codes[:1], cause.codes[1:]
        for fault in self._faults() if before else ():
            if fault.codes[:1] == own and fault.codes[2:][-len(before) :] == before:
                return fault
        return cause

    def _faults(self) -> Iterator[Reason]:
        for report in self._reports.values():
            if report.level >= SafetyLevel.FAULT:
                yield fault_of(report, "reports")


def fault_of(report: SafetyReport, verb: str) -> Reason:
    """Return the fault in `report` as a reason; `verb` is "reports" or "reported"."""
    text = f"{report.source} {verb} {report.level.name}: {report.message or _names(report.flags)}"
    return Reason.of(SAFETY_SOURCE_FAULT, text, Reason(report.message, report.codes))
