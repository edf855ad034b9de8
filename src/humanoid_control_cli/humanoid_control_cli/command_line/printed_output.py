"""Standard output that reports what it can't write, such as to a full disk, as a RobotError.

Texts have no control characters in it, see `printable`; only a console of `console` has colours.
"""

import os
import sys
from collections.abc import Callable
from io import TextIOWrapper
from typing import TextIO, TypeVar

from humanoid_control_common.errors import RobotError
from humanoid_control_common.machine.output import printable

T = TypeVar("T")


class OutputError(RobotError):
    """The output of a command cannot be written."""


class PrintedOutput(TextIOWrapper):
    """Takes the place of `stream`. A pipe that is closed stays a BrokenPipeError."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__(
            stream.buffer,
            encoding=stream.encoding,
            errors="backslashreplace",  # as stderr: Latin-1 and ASCII lack some characters
            line_buffering=bool(stream.line_buffering),
            write_through=os.environ.get("PYTHONUNBUFFERED", "") != "",
        )

    def write(self, text: str) -> int:
        """Write. Raises OutputError."""
        return self.write_controls(printable(text, "\n\t\r"))

    def write_controls(self, text: str) -> int:
        """Write, also control characters. Raises OutputError."""
        if text == "":  # typer asks so whether text can be written: an error would be lost
            return 0
        return self._reported(lambda: super(PrintedOutput, self).write(text))

    def flush(self) -> None:
        """Flush. Raises OutputError."""
        self._reported(super().flush)

    def _reported(self, action: Callable[[], T]) -> T:
        try:
            return action()
        except BrokenPipeError:
            raise
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())  # all later output
            raise OutputError(f"the output cannot be written: {error.strerror}") from error


def report_output() -> None:
    """Have the standard output of this process report what it can't write, if it has one."""
    if sys.stdout is not None:
        sys.stdout = PrintedOutput(sys.stdout)
