"""The screen of `hc doctor`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from humanoid_bringup.preflight.findings import Finding, Level

STYLE_OF: Final = {
    Level.OK: "green",
    Level.WARNING: "yellow",
    Level.MISSING: "bold red",
    Level.BROKEN: "bold red",
}


def show(findings: Sequence[Finding], console: Console) -> None:
    """Print the table, and below it each remedy in whole lines, to be copied."""
    console.print(_table(findings))
    for finding in filter(lambda finding: finding.remedy, findings):
        console.print(Text(f"{finding.subject}:", style=STYLE_OF[finding.level]))
        console.print(Text(f"  {finding.remedy}"), soft_wrap=True)
    counts = Counter(finding.level for finding in findings if finding.remedy)
    console.print(_verdict(counts))


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("check", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found", overflow="fold")
    for finding in findings:
        level = Text(finding.level.value, style=STYLE_OF[finding.level])
        table.add_row(Text(finding.subject), level, Text(finding.found))
    return table


def _verdict(counts: Mapping[Level, int]) -> Text:
    bad = [f"{counts[it]} {it.value}" for it in (Level.MISSING, Level.BROKEN) if counts[it]]
    warnings = counts[Level.WARNING]
    if bad:
        return Text(f"{', '.join(bad)}, {warnings} to improve", style=STYLE_OF[Level.MISSING])
    if warnings:
        return Text(f"it works, {warnings} to improve", style=STYLE_OF[Level.WARNING])
    return Text("all is well", style=STYLE_OF[Level.OK])
