"""Events of the mode manager for the tick recorder: requests, statements, falls, reports."""

from typing import Final, Protocol

from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_control_common.tick_records.record_layout import EventKind
from humanoid_control_common.tick_records.record_ring import report_text
from humanoid_controllers.mode_manager.mode_status import Answer, ModeStatus

_MOST: Final = 32  # sources whose latest report is kept; a robot has a handful


class Recorder(Protocol):
    """Keeps events; see TickRecorder."""

    def note(self, kind: EventKind, text: str, level: int = 0) -> None:
        """Keep an event."""


class EventLog:
    """Notes each change once, although statements and reports are repeated. Used by one thread.

    `recorder` is None while there is none.
    """

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self._message = self._fall = ""
        self._reports: dict[str, SafetyReport] = {}

    def note_request(self, request: str, answer: Answer) -> None:
        """Note a request and its answer."""
        outcome = "" if answer.accepted or answer.begun else "refused: "
        self._note(EventKind.REQUEST, f"{request}: {outcome}{answer.message}")

    def note_statement(self, statement: ModeStatus, fall: str) -> None:
        """Note a statement, and `fall`: why requests are refused until `clear_fault`, or empty."""
        if fall and fall != self._fall:
            self._note(EventKind.FALL, fall, SafetyLevel.FAULT)
        self._fall = fall
        if statement.status_message != self._message:
            self._message = statement.status_message
            self._note(EventKind.STATEMENT, self._message)

    def note_report(self, report: SafetyReport) -> None:
        """Note a report of a safety source of another process."""
        if self._reports.get(report.source) != report:
            if report.source in self._reports or len(self._reports) < _MOST:
                self._reports[report.source] = report
            text = report_text(report.source, int(report.flags), report.message)
            self._note(EventKind.REPORT, text, report.level)

    def _note(self, kind: EventKind, text: str, level: int = 0) -> None:
        if self.recorder is not None:
            self.recorder.note(kind, text, level)
