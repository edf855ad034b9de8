"""Screen and keys of `hc calibrate`; without a terminal, lines of text only."""

import sys
import time
from contextlib import ExitStack
from typing import Final, Self

from rich.console import Console
from rich.live import Live

from humanoid_bringup.calibration.session import CalibrationSession
from humanoid_control_cli.calibrate.view import render
from humanoid_control_cli.terminal_keys import Keys

SCREEN_PERIOD: Final = 0.1  # [s] between two pictures


class Screen:
    """A table in the terminal. Use it in a `with` statement, whose end restores the terminal."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._live: Live | None = None
        self._drawn = 0.0  # [s]
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        console = Console(markup=False, highlight=False)
        if console.is_terminal and sys.stdin.isatty():
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
            self._live.update(render(session.rows(), session.limp.message), refresh=True)
