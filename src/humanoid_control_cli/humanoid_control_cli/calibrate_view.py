"""The screen of `hc calibrate`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from humanoid_bringup_prime.calibration.offsets import SMALLEST_SWEEP
from humanoid_bringup_prime.calibration.session import JointRow

KEYS_HELP: Final = (
    "n/p or arrows: joint   0: none   f: flip direction   r: sweep again   w: write   q: abort"
)
RIGHT: Final = ("raw now", "raw min", "raw max", "sweep", "of URDF", "dir", "offset [rad]")
EMPTY: Final = "-"


def render(rows: Sequence[JointRow], message: str) -> RenderableType:
    """All joints, what is waited for, what looks wrong, and the keys; angles in rad."""
    parts: list[RenderableType] = [_table(rows)]
    parts += [Text(line, style="yellow") for line in warning_lines(rows)]
    if message:
        parts.append(Text(message, style="bold yellow"))
    parts.append(Text(KEYS_HELP, style="dim"))
    return Group(*parts)


def warning_lines(rows: Sequence[JointRow]) -> list[str]:
    """What looks wrong, a line each."""
    return [f"{row.result.joint}: {text}" for row in rows for text in row.result.warnings]


def result_lines(rows: Sequence[JointRow]) -> list[str]:
    """What becomes of each joint, a line each."""
    lines = []
    for row in rows:
        setting, result = row.result.setting, row.result
        values = f"direction {setting.direction:+d}, homing offset {setting.homing_offset:+.6f} rad"
        lines.append(f"{result.joint}: {values} ({result.origin})")
    return lines


def _table(rows: Sequence[JointRow]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="bold")
    table.add_column("joint", no_wrap=True)
    table.add_column("limp", no_wrap=True)
    for title in RIGHT:
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*_cells(row), style="reverse" if row.selected else "")
    return table


def _cells(row: JointRow) -> list[Text | str]:
    result, sweep = row.result, row.result.sweep
    limp = Text("limp", style="bold red") if row.loose else Text("held")
    offset = Text(
        f"{result.setting.homing_offset:+.5f}",
        style="bold green" if result.changed else "dim",
    )
    return [
        result.joint,
        limp,
        EMPTY if row.raw != row.raw else f"{row.raw:+.3f}",
        f"{sweep.low:+.3f}" if sweep else EMPTY,
        f"{sweep.high:+.3f}" if sweep else EMPTY,
        _sweep(sweep.width) if sweep else EMPTY,
        f"{result.coverage:.0%}" if result.coverage is not None else EMPTY,
        f"{result.setting.direction:+d}",
        offset,
    ]


def _sweep(width: float) -> Text:
    """Too short to count, or not."""
    return Text(f"{width:.3f}", style="dim" if width < SMALLEST_SWEEP else "bold")
