"""Keys pressed in a terminal."""

import os
import select
import sys
import termios
import tty
from typing import Final, Self

ARROWS: Final = {"\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down"}  # ECMA-48


def has_keys() -> bool:
    """Return whether the input is a terminal. Programs can be started without any input."""
    return sys.stdin is not None and sys.stdin.isatty()


class Keys:
    """To be used in a `with` statement: meanwhile the terminal echoes nothing.

    Ctrl-C stays a signal. Without a terminal there are no keys.
    """

    def __init__(self) -> None:
        self._file = sys.stdin.fileno() if has_keys() else -1
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
            self._file = -1  # the terminal is closed: it would be readable for ever
        return split_keys(text)


def split_keys(text: str) -> list[str]:
    """Split a terminal's input into keys."""
    found = []
    while text:
        arrow = next((sent for sent in ARROWS if text.startswith(sent)), "")
        found.append(ARROWS.get(arrow, text[0]))
        text = text[len(arrow) or 1 :]
    return found
