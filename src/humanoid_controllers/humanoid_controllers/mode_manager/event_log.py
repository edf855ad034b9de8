"""Events of the mode manager for the tick recorder: requests, statements, falls, reports."""

from collections.abc import Sequence
from typing import Protocol

from humanoid_control_common.rules.modes import Statement
from humanoid_control_common.rules.reason_codes import RESET_SENT
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport, surplus
from humanoid_control_common.tick_records.record_layout import EventKind
from humanoid_control_common.tick_records.record_ring import report_text
from humanoid_controllers.mode_manager.answer import Answer


class Recorder(Protocol):
    """Keeps events; see TickRecorder."""

    def record_event(
        self, kind: EventKind, text: str, level: int = 0, codes: Sequence[str] = ()
    ) -> None:
        """Keep an event."""


class EventLog:
    """Record each change once, although statements and reports are repeated. Used by one thread.

    `recorder` is None while there is no recorder.
    """

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self._stated = self._fall = NO_REASON
        self._reports: dict[str, SafetyReport] = {}

    def record_request(self, request: str, answer: Answer) -> None:
        """Record a request and its answer."""
        begun = answer.accepted or RESET_SENT.name in answer.codes
        outcome = "" if begun else "refused: "
        self._record(EventKind.REQUEST, f"{request}: {outcome}{answer.message}", codes=answer.codes)

    def record_statement(self, statement: Statement, fall: Reason) -> None:
        """Record a statement, and `fall`: why requests are refused until `clear_fault`, if so."""
        if fall and fall != self._fall:
            self._record(EventKind.FALL, fall.text, SafetyLevel.FAULT, fall.codes)
        self._fall = fall
        reason = statement.reason
        if reason != self._stated:
            self._stated = reason
            self._record(EventKind.STATEMENT, reason.text, codes=reason.codes)

    def record_report(self, report: SafetyReport) -> None:
        """Record a report of a safety source of another process.

        Of all sources beyond the limit, the first report is recorded.
        """
        if fault := surplus(report.source, self._reports):
            report = self._reports.get(fault.source, fault)
        if self._reports.get(report.source) != report:
            self._reports[report.source] = report
            text = report_text(report.source, int(report.flags), report.message)
            self._record(EventKind.REPORT, text, report.level, report.codes)

    def _record(
        self, kind: EventKind, text: str, level: int = 0, codes: Sequence[str] = ()
    ) -> None:
        if self.recorder is not None:
            self.recorder.record_event(kind, text, level, codes)
