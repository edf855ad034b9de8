"""Report of a campaign: a table by kind, and everything as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from fault_campaign.campaign import Entry
from fault_campaign.kinds.catalogue import KINDS
from fault_campaign.kinds.kind import Outcome
from humanoid_bringup.robot_package import DEFAULT

_COLUMNS = (
    "n",
    "soft p50",
    "max",
    "stated",
    "speed",
    "effort",
    "jump",
    "files",
    "known",
    "bad",
)


def line(entry: Entry) -> str:
    """Return a line about a trial, and lines with its violations and the commands to repeat it."""
    result, verdict = entry.result, entry.result.verdict
    figures = "did not come to the fault"
    if verdict is not None:
        soft = "      " if verdict.softened is None else f"{verdict.softened * 1e3:4.0f}ms"
        figures = (
            f"soft {soft} speed {verdict.speed:.2f} effort {verdict.effort:.2f} "
            f"jump {verdict.jump * 1e3:.0f} mrad"
        )
    if entry.kept is not None:
        figures += f" file {-entry.kept.before:+.1f} {entry.kept.after:+.1f} s"
    if result.refusals:
        figures += f" refused {result.refusals} times"
    wrong = "".join(f"\n    known: {it}" for it in result.known)
    wrong += "".join(f"\n    VIOLATION: {it}" for it in entry.news)
    again = "".join(f"\n    {it}" for it in _commands(entry)) if wrong else ""
    what = f"{result.kind}: {result.detail}" if result.detail else result.kind
    scene = ", ".join(filter(None, (result.start, result.joint, result.adapter)))
    return f"{what} ({scene}): {figures}{wrong}{again}"


def _commands(entry: Entry) -> list[str]:
    """Return the commands that repeat and show a trial."""
    result = entry.result
    robot = "" if result.robot == DEFAULT else f" --robot {result.robot}"
    chosen = f'--kind "{result.kind}"{robot}'
    return [
        f"make faults ARGS='{chosen} --trial {result.seed}'",
        f"hc twin trial {result.seed} {chosen} --stop-at violation",
    ]


def print_table(entries: Sequence[Entry]) -> None:
    """Print a row for each kind with its worst figures. Speed and effort: ratio to the limit."""
    table = Table(title="Faults", title_justify="left")
    table.add_column("kind", overflow="fold")
    for column in _COLUMNS:
        table.add_column(column, justify="right")
    for name in sorted({entry.result.kind for entry in entries}):
        table.add_row(name, *_row(name, [it for it in entries if it.result.kind == name]))
    table.add_section()
    table.add_row("all", *_row("", entries))
    Console(width=120).print(table)


def write_json(entries: Sequence[Entry], file: Path) -> None:
    """Write all trials as JSON."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps([asdict(entry) for entry in entries], indent=1), encoding="utf-8")


def _row(name: str, entries: Sequence[Entry]) -> list[str]:
    verdicts = [it.result.verdict for it in entries if it.result.verdict is not None]
    kind = KINDS.get(name)
    must = kind is not None and kind.outcome in (Outcome.SOFT, Outcome.OFF, Outcome.STOPS)
    times = [it.softened for it in verdicts if must and it.softened is not None]
    return [
        str(len(entries)),
        f"{np.median(times) * 1e3:.0f} ms" if times else "",
        f"{max(times) * 1e3:.0f} ms" if times else "",
        f"{kind.within * 1e3:.0f} ms" if kind and must else "",
        f"{max((it.speed for it in verdicts), default=0.0):.2f}",
        f"{max((it.effort for it in verdicts), default=0.0):.2f}",
        f"{max((it.jump for it in verdicts), default=0.0) * 1e3:.0f} mrad",
        str(sum(it.kept is not None for it in entries) or ""),
        str(sum(bool(it.result.known) for it in entries) or ""),
        str(sum(bool(it.news) for it in entries) or ""),
    ]
