"""The screen of `hc calibrate`."""

from collections.abc import Iterable, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from humanoid_bringup.calibration.formulas import SMALLEST_SWEEP
from humanoid_bringup.calibration.results import JointResult
from humanoid_bringup.calibration.session import JointRow

KEYS_HELP: Final = "n/p: next, previous joint  0: none  f: flip  r: again  w: write  q: abort"
RIGHT: Final = ("raw", "min", "max", "sweep", "URDF", "dir", "offset")  # [rad], part of it, 1
EMPTY: Final = "-"


def render(rows: Sequence[JointRow], message: str) -> RenderableType:
    """Show all joints, the present wait, the warnings and the keys; angles in rad."""
    parts: list[RenderableType] = [_table(rows)]
    parts += [Text(line, style="yellow") for line in warning_lines(row.result for row in rows)]
    if message:
        parts.append(Text(message, style="bold yellow"))
    parts.append(Text(KEYS_HELP, style="dim"))
    return Group(*parts)


def warning_lines(results: Iterable[JointResult]) -> list[str]:
    """Return the warnings, one a line."""
    return [f"{result.joint}: {text}" for result in results for text in result.warnings]


def result_lines(results: Iterable[JointResult]) -> list[str]:
    """Return the new calibration of each joint that changes, one a line."""
    return [
        f"{result.joint}: direction {result.setting.direction:+d}, "
        f"homing offset {result.setting.homing_offset:+.6f} rad ({result.origin})"
        for result in results
        if result.changed
    ]


def _table(rows: Sequence[JointRow]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
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
