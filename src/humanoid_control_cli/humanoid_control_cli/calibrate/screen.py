"""Screen and keys of `hc calibrate`; without a terminal, lines of text only."""

import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from typing import Final, Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from humanoid_bringup.calibration.formulas import SMALLEST_SWEEP
from humanoid_bringup.calibration.results import JointResult
from humanoid_bringup.calibration.session import CalibrationSession, JointRow
from humanoid_control_cli.command_line.plain_console import PlainConsole
from humanoid_control_cli.terminal_keys import Keys, has_keys

SCREEN_PERIOD: Final = 0.1  # [s] between two pictures
KEYS_HELP: Final = "n/p: next, previous joint  0: none  f: flip  r: again  w: write  q: abort"
RIGHT: Final = ("raw", "min", "max", "sweep", "URDF", "dir", "offset")  # [rad], part of it, 1
EMPTY: Final = "-"


def can_draw() -> bool:
    """Return whether the terminal has keys and redraws a table, which TERM=dumb does not."""
    drawn = sys.stdout is not None and sys.stdout.isatty() and not Console().is_dumb_terminal
    return drawn and has_keys()


class Screen:
    """A table in the terminal. Use it in a `with` statement, whose end restores the terminal."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._live: Live | None = None
        self._drawn = 0.0  # [s]
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        if can_draw():
            console = PlainConsole()
            self._cleanup.enter_context(self._keys)
            self._live = self._cleanup.enter_context(Live(console=console, auto_refresh=False))
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    def pressed(self) -> list[str]:
        """Return the keys since the last call."""
        return self._keys.pressed() if self._live else []

    def say(self, text: str) -> None:
        """Print a line, unless a table is drawn."""
        if self._live is None:
            sys.stderr.write(f"{text}\n")

    def show(self, session: CalibrationSession) -> None:
        """Draw the table, if SCREEN_PERIOD has passed."""
        now = time.monotonic()
        if self._live is not None and now - self._drawn >= SCREEN_PERIOD:
            self._drawn = now
            self._live.update(rendered(session.rows(), session.limp_drives.message), refresh=True)


def rendered(rows: Sequence[JointRow], message: str) -> RenderableType:
    """Return the keys, the present wait, the table of all joints [rad] and the warnings.

    A terminal cuts off what does not fit into its height: the end.
    """
    parts: list[RenderableType] = [
        Text(KEYS_HELP, style="dim"),
        Text(message, style="bold yellow"),
        _table(rows),
    ]
    parts += [Text(line, style="yellow") for line in warning_lines(row.result for row in rows)]
    return Group(*parts)


def warning_lines(results: Iterable[JointResult]) -> list[str]:
    """Return the warnings, one a line."""
    return [f"{result.joint}: {text}" for result in results for text in result.warnings]


def result_lines(results: Iterable[JointResult]) -> list[str]:
    """Return the new calibration of each joint that changes, one a line."""
    return [
        f"{result.joint}: direction {result.calibration.direction:+d}, "
        f"homing offset {result.calibration.homing_offset:+.6f} rad ({result.origin})"
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
        f"{result.calibration.homing_offset:+.5f}",
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
        f"{result.calibration.direction:+d}",
        offset,
    ]


def _sweep(width: float) -> Text:
    return Text(f"{width:.3f}", style="dim" if width < SMALLEST_SWEEP else "bold")
