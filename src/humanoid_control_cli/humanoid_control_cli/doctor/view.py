"""The screen of `hc doctor`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from humanoid_bringup_prime.machine.findings import Finding, Level

STYLE_OF: Final = {Level.OK: "green", Level.WARNING: "yellow", Level.MISSING: "bold red"}


def show(findings: Sequence[Finding], console: Console) -> None:
    """A table of what was found, and below it what to do: whole lines, to be copied."""
    console.print(_table(findings))
    remedies = [finding for finding in findings if finding.remedy]
    for finding in remedies:
        console.print(Text(f"{finding.subject}:", style=STYLE_OF[finding.level]))
        console.print(Text(f"  {finding.remedy}"), soft_wrap=True)
    missing = sum(finding.level is Level.MISSING for finding in findings)
    console.print(_verdict(missing, len(remedies) - missing))


def _table(findings: Sequence[Finding]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
    table.add_column("check", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("found", overflow="fold")
    for finding in findings:
        level = Text(finding.level.value, style=STYLE_OF[finding.level])
        table.add_row(Text(finding.subject), level, Text(finding.found))
    return table


def _verdict(missing: int, warnings: int) -> Text:
    if missing:
        return Text(f"{missing} missing, {warnings} to improve", style=STYLE_OF[Level.MISSING])
    if warnings:
        return Text(f"it works, {warnings} to improve", style=STYLE_OF[Level.WARNING])
    return Text("all is well", style=STYLE_OF[Level.OK])
