"""The screen of `hc status`."""

from collections.abc import Callable, Iterator
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from humanoid_control_cli.diagnosis_view import advice, details, troubles, with_codes
from humanoid_control_cli.motion.states import in_words
from humanoid_control_cli.robot.message_rate import Stream
from humanoid_control_cli.robot.mode_rows import fact_table, mode_rows
from humanoid_control_cli.robot.status import LIMITS, REMOTE, TIMING, JointRow, Status, codes_of
from humanoid_control_cli.statements import StampedStatement
from humanoid_control_common.rules.diagnosis import Diagnosis
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport

STYLE_OF: Final = {
    SafetyLevel.OK: "green",
    SafetyLevel.WARNING: "yellow",
    SafetyLevel.FAULT: "bold red",
    SafetyLevel.CRITICAL: "bold red",
}
MISSING: Final = "none"


def render(status: Status, *, everything: bool = False) -> RenderableType:
    """Show the status on one screen of 80 columns; faults and remedies come last.

    `everything`: with all values of all diagnoses.
    """
    parts = [_facts(status)]
    if status.joints:
        parts.append(_joints(status.joints))
    if everything:
        parts.append(details(status.diagnoses.values()))
    parts += [*troubles(status.diagnoses.values()), *advice(_codes(status))]
    return Group(*parts)


def _codes(status: Status) -> Iterator[str]:
    """Yield the codes of all that isn't well, those of the most precise reports first."""
    for report in status.safety.values():
        if report.level:
            yield from codes_of(report)
    for diagnosis in status.diagnoses.values():
        if diagnosis.level:
            yield from diagnosis.codes
    if status.statement:
        yield from status.statement.reason.codes


def statement_rows(statement: StampedStatement | None) -> Table:
    """Show what the mode manager states: the first rows of the status."""
    if statement is None:
        facts = fact_table()
        facts.add_row("mode", Text("not stated: no mode manager", style="yellow"))
        return facts
    facts = mode_rows(statement.mode, statement.controller, statement.switch_number)
    facts.add_row("message", Text(with_codes(statement.reason) or MISSING))
    return facts


def _facts(status: Status) -> RenderableType:
    facts = statement_rows(status.statement)
    facts.add_row("joint states", _flow(status.joint_states, status.joint_states_age))
    for source, report in sorted(status.safety.items()):  # they arrive in any order
        facts.add_row(f"safety {source}", _safety(report))
    timing = status.diagnoses.get(TIMING)
    for name, text in _timing(timing) if timing else [("loop", MISSING)]:
        facts.add_row(name, text)
    if LIMITS in status.diagnoses:
        facts.add_row("limits", status.diagnoses[LIMITS].message)
    if REMOTE in status.diagnoses:
        facts.add_row("remote", _remote(status.diagnoses[REMOTE]))
    for name, state in status.motions.items():
        facts.add_row("motion", f"{name}: {in_words(state)}")
    return facts


def _flow(stream: Stream, age: float) -> Text:
    if stream.count == 0:
        return Text(MISSING, style="bold red")
    return Text(f"{stream.rate:.1f} Hz, the latest {age * 1e3:.0f} ms old")


def _safety(report: SafetyReport) -> Text:
    message = with_codes(Reason(report.message, report.codes))
    parts = [report.level.name, report.flags.name if report.flags else "", message]
    return Text(" ".join(part for part in parts if part), style=STYLE_OF[report.level])


def _remote(commands: Diagnosis) -> str:
    """Show the state of REMOTE, and its latest refusal with its time."""
    ago = commands.values.get("latest refusal [s ago]")
    return f"{commands.message} ({ago} s ago)" if ago else commands.message


def _timing(timing: Diagnosis) -> list[tuple[str, str]]:
    def value(key: str) -> str:
        return timing.values.get(key, "?")

    overruns = f"{value('overruns')} overrun{'' if value('overruns') == '1' else 's'}"
    return [
        ("loop", f"{timing.message}; {overruns} in {value('ticks')} ticks"),
        ("real-time", value("real-time")),
        ("period [ms]", _columns(value, "period {} [ms]", ("mean", "p99", "max"))),
        ("execution [us]", _columns(value, "execution {} [us]", ("median", "p99", "max"))),
    ]


def _columns(value: Callable[[str], str], key: str, names: tuple[str, ...]) -> str:
    return "  ".join(f"{name} {value(key.format(name))}" for name in names)


def _joints(joints: list[JointRow]) -> Table:
    table = Table(box=None, padding=(0, 2), header_style="bold")
    table.add_column("joint", no_wrap=True)
    for title in ("position [rad]", "velocity [rad/s]", "effort [Nm]"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in joints:
        table.add_row(row.name, *(f"{x:+.3f}" for x in (row.position, row.velocity, row.effort)))
    return table
