"""The latest report of each safety source, of as many sources as the mode manager takes."""

from __future__ import annotations

from collections.abc import Iterator

from humanoid_control_common.safety import MOST_SOURCES, SURPLUS, SafetyLevel, surplus_message
from humanoid_viz.state import SafetyReport


class SafetyReports:
    """Bounded: sources beyond the bound become one FAULT that names the latest of them."""

    def __init__(self) -> None:
        self._latest: dict[str, SafetyReport] = {}

    def __iter__(self) -> Iterator[SafetyReport]:
        return iter(self._latest.values())

    def put(self, report: SafetyReport) -> str:
        """Keep a report. Returns the source it is kept under."""
        if report.source not in self._latest and len(self._latest) >= MOST_SOURCES:
            message = surplus_message(report.source)
            report = SafetyReport(SURPLUS, int(SafetyLevel.FAULT), 0, message)
        self._latest[report.source] = report
        return report.source
