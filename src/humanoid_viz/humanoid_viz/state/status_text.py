"""Mode and safety in a few lines of text, with a colour for the severity."""

from collections.abc import Iterable
from dataclasses import dataclass

from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_viz.page.page import level_name, mode_name, seconds
from humanoid_viz.state.state import ModeInForce, SafetyReport, StreamState

Rgba = tuple[float, float, float, float]  # 0 to 1

CALM: Rgba = (0.10, 0.10, 0.12, 1.0)
UNKNOWN: Rgba = (0.55, 0.55, 0.55, 1.0)
ATTENTION: Rgba = (0.85, 0.45, 0.00, 1.0)
ALARM: Rgba = (0.85, 0.00, 0.00, 1.0)


@dataclass(frozen=True, slots=True)
class StatusText:
    """Lines of text, and their colour."""

    text: str
    colour: Rgba


def status_text(mode: ModeInForce, safety: Iterable[SafetyReport]) -> StatusText:
    """Return mode, the mode manager's message, and each safety source that is not OK."""
    reports = tuple(safety)
    lines = [_mode_line(mode)]
    if mode.statement and mode.statement.message:
        lines.append(mode.statement.message)
    lines += _safety_lines(reports)
    return StatusText("\n".join(lines), _colour(mode, reports))


def _mode_line(mode: ModeInForce) -> str:
    if mode.statement is None or mode.age is None:
        return "no robot: no mode stated yet"
    name = mode_name(mode.statement.mode)
    if mode.flow is StreamState.FLOWING:
        return name
    return f"mode unknown: {name} was stated {seconds(mode.age)} ago"


def _safety_lines(reports: tuple[SafetyReport, ...]) -> list[str]:
    bad = [report for report in reports if report.level != SafetyLevel.OK]
    if not bad:
        return ["safety: OK" if reports else "safety: no source"]
    return [f"{level_name(report.level)}: {report.source}: {report.message}" for report in bad]


def _colour(mode: ModeInForce, reports: tuple[SafetyReport, ...]) -> Rgba:
    if mode.flow is not StreamState.FLOWING:
        return UNKNOWN  # outdated reports don't count
    worst = max((report.level for report in reports), default=int(SafetyLevel.OK))
    if worst >= SafetyLevel.FAULT:  # a level that does not exist counts as critical
        return ALARM
    reasons = mode.statement.codes if mode.statement else ()
    return ATTENTION if reasons or worst == SafetyLevel.WARNING else CALM
