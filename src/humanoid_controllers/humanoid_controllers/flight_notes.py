"""What the mode manager is told and says, for the flight recorder."""

from __future__ import annotations

from typing import Final, Protocol

from humanoid_control_common.flight_layout import EventKind
from humanoid_control_common.flight_ring import report_text
from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_controllers.statement import Answer, Statement

_MOST: Final = 32  # sources whose latest report is remembered; more is somebody's mistake


class Recorder(Protocol):
    """Keeps events; see FlightRecorder."""

    def note(self, kind: EventKind, text: str, level: int = 0) -> None:
        """Keep an event."""


class FlightNotes:
    """Notes each thing once: statements are repeated at 50 Hz. Used by one thread.

    `recorder` may be missing, where there is no memory for one.
    """

    def __init__(self) -> None:
        self.recorder: Recorder | None = None
        self._said = self._fall = ""
        self._reports: dict[str, SafetyReport] = {}

    def asked(self, wish: str, answer: Answer) -> None:
        """Somebody asked for something."""
        outcome = "" if answer.accepted or answer.begun else "refused: "
        self._note(EventKind.REQUEST, f"{wish}: {outcome}{answer.message}")

    def stated(self, statement: Statement, fall: str) -> None:
        """What is in force; `fall` is why requests are refused until it is cleared, if they are."""
        if fall and fall != self._fall:
            self._note(EventKind.FALL, fall, SafetyLevel.FAULT)
        self._fall = fall
        if statement.status_message != self._said:
            self._said = statement.status_message
            self._note(EventKind.STATEMENT, self._said)

    def reported(self, report: SafetyReport) -> None:
        """A safety source of another process has said something."""
        if self._reports.get(report.source) != report:
            if report.source in self._reports or len(self._reports) < _MOST:
                self._reports[report.source] = report
            text = report_text(report.source, int(report.flags), report.message)
            self._note(EventKind.REPORT, text, report.level)

    def _note(self, kind: EventKind, text: str, level: int = 0) -> None:
        if self.recorder is not None:
            self.recorder.note(kind, text, level)
