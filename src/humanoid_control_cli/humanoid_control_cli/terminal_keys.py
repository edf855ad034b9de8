"""Keys pressed in a terminal."""

import os
import re
import select
import sys
import termios
import tty
from contextlib import suppress
from typing import Any, Final, Self

from humanoid_control_common.errors import RobotError

ARROWS: Final = {"\x1b[A": "up", "\x1b[B": "down", "\x1bOA": "up", "\x1bOB": "down"}  # ECMA-48
# A control sequence is one key: that of F9 contains a 0.
KEY: Final = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1bO[ -~]|.", re.DOTALL)


class TerminalClosedError(RobotError):
    """The terminal of a program that waits for keys is closed."""


def has_keys() -> bool:
    """Return whether the input is a terminal. Programs can be started without any input."""
    return sys.stdin is not None and sys.stdin.isatty()


class Keys:
    """To be used in a `with` statement: meanwhile the terminal echoes nothing.

    Ctrl-C stays a signal. The control keys that suspend (Ctrl-Z), quit and hold the output (Ctrl-S)
    are keys like any other: a program that is suspended, or waits for its output, reacts to no key,
    and one that quits leaves the terminal without echo. Without a terminal there are no keys.
    """

    def __init__(self) -> None:
        self._file = sys.stdin.fileno() if has_keys() else -1
        self._before: list[Any] = []

    def __enter__(self) -> Self:
        if self._file >= 0:
            self._before = termios.tcgetattr(self._file)
            termios.tcsetattr(self._file, termios.TCSAFLUSH, self._key_by_key())
        return self

    def __exit__(self, *_: object) -> None:
        if self._before:
            with suppress(termios.error):  # the terminal is closed
                termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    def pressed(self) -> list[str]:
        """Return the keys since the last call; arrows as "up" and "down".

        Raises TerminalClosedError.
        """
        if self._file < 0 or not select.select([self._file], [], [], 0)[0]:
            return []
        try:
            sent = os.read(self._file, 1024)
        except OSError:  # of a terminal that hung up
            sent = b""
        if not sent:  # it would be readable for ever
            raise TerminalClosedError("the terminal is closed")
        return split_keys(sent.decode(errors="replace"))  # of a key in another encoding, too

    def _key_by_key(self) -> list[Any]:
        """Return the attributes of a terminal without echo, which passes on each key at once."""
        attributes = termios.tcgetattr(self._file)
        attributes[tty.IFLAG] &= ~termios.IXON
        attributes[tty.LFLAG] &= ~(termios.ECHO | termios.ICANON)
        characters = attributes[tty.CC]
        characters[termios.VMIN], characters[termios.VTIME] = 1, 0
        none = bytes([os.fpathconf(self._file, "PC_VDISABLE")])
        characters[termios.VSUSP] = characters[termios.VQUIT] = none
        return attributes


def split_keys(text: str) -> list[str]:
    """Split a terminal's input into keys."""
    return [ARROWS.get(key, key) for key in KEY.findall(text)]
