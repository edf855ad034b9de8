"""Diagnoses on a screen: faults, remedies, and all values."""

from collections.abc import Iterable, Iterator
from typing import Final

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from humanoid_control_cli.folding import fold
from humanoid_control_cli.reason_codes import known
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.reason_codes import REFUSED, WAITS
from humanoid_control_common.rules.reasons import Reason

STYLE_OF: Final = {
    DiagnosisLevel.OK: "green",
    DiagnosisLevel.WARN: "yellow",
    DiagnosisLevel.ERROR: "bold red",
    DiagnosisLevel.STALE: "yellow",
}
ELSEWHERE: Final = ("hardware: ", "mode manager")  # safety reports and statement have own lines
WIDTH: Final = 80
# Their remedy is that of the codes after them.
_POINTS_ON: Final = frozenset({*REFUSED.values(), *WAITS.values()})


def with_codes(reason: Reason) -> str:
    """Return the text of a reason, and its codes."""
    return f"{reason.text} [{' '.join(reason.codes)}]" if reason.codes else reason.text


def wrong(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """Return those that aren't well, the worst first."""
    return sorted(
        (it for it in diagnoses if it.level and not it.name.startswith(ELSEWHERE)),
        key=lambda it: it.level is not DiagnosisLevel.ERROR,
    )


def troubles(diagnoses: Iterable[Diagnosis]) -> Iterator[RenderableType]:
    """Show the faults; nothing if there are none."""
    found = wrong(diagnoses)
    if not found:
        return
    yield Text("\nnot well", style="bold")
    for diagnosis in found:
        yield _headed(diagnosis)


def advice(codes: Iterable[str]) -> Iterator[RenderableType]:
    """Show the remedies by the names of reason codes; nothing if none is known."""
    found = [code for code in known(codes) if code not in _POINTS_ON]
    if not found:
        return
    yield Text("\nwhat to do", style="bold")
    for code in found:
        yield Text(code.name, style="yellow")
        yield Text(fold(code.meaning, WIDTH, rest="  "))
        yield Text(fold(f"-> {code.remedy}", WIDTH, rest="     "))


def details(diagnoses: Iterable[Diagnosis]) -> RenderableType:
    """Show all diagnoses with all their values."""
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for diagnosis in diagnoses:
        table.add_row("", "")
        name = Text(diagnosis.name, style="bold")
        table.add_row(name, Text(diagnosis.message, style=STYLE_OF[diagnosis.level]))
        if diagnosis.codes:
            table.add_row(Text("  reason codes"), Text(" ".join(diagnosis.codes)))
        for key, value in diagnosis.values.items():
            table.add_row(Text(f"  {key}"), Text(value))
    return table


def _headed(diagnosis: Diagnosis) -> Text:
    head = f"{diagnosis.level.name} {diagnosis.name}: "
    return Text(head, style=STYLE_OF[diagnosis.level]) + Text(
        with_codes(Reason(diagnosis.message, diagnosis.codes)), style="default"
    )
