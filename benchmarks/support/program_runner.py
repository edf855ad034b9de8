"""Run programs for benchmarks and pictures: on a ROS domain of their own, always ended."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO, Final, NoReturn

from test_support.ros.ros_domains import on_reserved_domain

TIMEOUT: Final = 20.0  # [s] timeout of a wait that should take a second
END_TIMEOUT: Final = 15.0  # [s] for a program to end after a signal; `hc up` ends several itself
_LOOK: Final = 0.1  # [s] between two checks of the output


class ProgramError(Exception):
    """A program ended, failed or printed nothing; the message has its output."""


@dataclass(frozen=True, slots=True)
class Running:
    """A started program; `started` is the system time just before the start, in [ns]."""

    process: subprocess.Popen[bytes]
    started: int
    output: IO[bytes]

    def check(self) -> None:
        """Raise ProgramError if it has ended."""
        code = self.process.poll()
        if code is not None:
            self._fail(f"ended with code {code}")

    def finish(self, timeout: float = TIMEOUT) -> None:
        """Wait until the program ends by itself. Raises ProgramError unless its exit code is 0."""
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self._fail(f"still runs after {timeout:g} s")
        if code != 0:
            self._fail(f"ended with code {code}")

    def wait_for(self, pattern: str, timeout: float = TIMEOUT) -> str:
        """Wait until the output matches; return the match. Raises ProgramError without one."""
        deadline = time.monotonic() + timeout
        while not (found := re.search(pattern, self.text())):
            self.check()
            if time.monotonic() > deadline:
                self._fail(f"has not printed '{pattern}' within {timeout:g} s")
            time.sleep(_LOOK)
        return found[0]

    def text(self) -> str:
        """Return its output on stdout and stderr."""
        file = self.output.fileno()
        # `seek` would move the position of the running program, too.
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def _fail(self, what: str) -> NoReturn:
        raise ProgramError(f"{self.process.args!r} {what}:\n{self.text()}")


@contextmanager
def isolated() -> Iterator[None]:
    """Use a ROS domain of its own, on this machine; SIGTERM unwinds the stack as Ctrl-C does."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        with on_reserved_domain():
            yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def running(command: Sequence[str], folder: Path | None = None) -> Iterator[Running]:
    """Run `command` in `folder` while the context is open, in a session of its own."""
    with tempfile.TemporaryFile() as output:
        started = time.time_ns()
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield Running(process, started, output)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            if process.poll() is not None:
                return
            process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_TIMEOUT)
    finally:  # a second Ctrl-C leaves no process behind either
        if process.poll() is None:
            process.kill()
            process.wait()
