"""Screen and keys of `hc calibrate`; without a terminal, lines of text only."""

import os
import select
import sys
import termios
import time
import tty
from contextlib import ExitStack
from typing import Final, Self

from rich.console import Console
from rich.live import Live

from humanoid_bringup.calibration.session import CalibrationSession
from humanoid_control_cli.calibrate.view import render

SCREEN_PERIOD: Final = 0.1  # [s] between two pictures


class Screen:
    """To be used in a `with` statement, which gives the terminal back as it was."""

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
        """A line, where the table doesn't show it."""
        if self._live is None:
            sys.stderr.write(f"{text}\n")

    def show(self, session: CalibrationSession) -> None:
        """The table as it is now, if it is time for a new picture."""
        now = time.monotonic()
        if self._live is not None and now - self._drawn >= SCREEN_PERIOD:
            self._drawn = now
            self._live.update(render(session.rows(), session.limp.message), refresh=True)


ARROWS: Final = {"\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down"}  # ECMA-48


class Keys:
    """To be used in a `with` statement: meanwhile the terminal echoes nothing.

    Ctrl-C stays a signal. Without a terminal there are no keys.
    """

    def __init__(self) -> None:
        self._file = sys.stdin.fileno() if sys.stdin and sys.stdin.isatty() else -1
        self._before: list[object] = []

    def __enter__(self) -> Self:
        if self._file >= 0:
            self._before = termios.tcgetattr(self._file)
            tty.setcbreak(self._file)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before:
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)  # type: ignore[arg-type]

    def pressed(self) -> list[str]:
        """Return the keys since the last call; arrows as "up" and "down"."""
        if self._file < 0 or not select.select([self._file], [], [], 0)[0]:
            return []
        text = os.read(self._file, 1024).decode(errors="ignore")
        if not text:
            self._file = -1  # the terminal is gone: it would be readable for ever
        return split_keys(text)


def split_keys(text: str) -> list[str]:
    """Split a terminal's input into keys."""
    found = []
    while text:
        arrow = next((sent for sent in ARROWS if text.startswith(sent)), "")
        found.append(ARROWS.get(arrow, text[0]))
        text = text[len(arrow) or 1 :]
    return found
