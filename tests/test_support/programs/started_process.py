"""Programs that a test starts."""

import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from test_support.programs.prepared_programs import PreparedProgram, PreparedPrograms

GIVE_UP: Final = 30.0  # [s] dead-man's switch of every wait, far above what is expected


class StartedProcess:
    """A started program; its output is in `log`. `end_signal` asks it to end.

    With `prepared` it is started by that, and anew without.
    """

    end_signal = signal.SIGINT

    def __init__(
        self, command: Sequence[str], log: Path, prepared: PreparedPrograms | None = None
    ) -> None:
        self.log = log
        self.process: subprocess.Popen[bytes] | PreparedProgram
        with log.open("w") as file:
            if prepared is not None:
                self.process = prepared.start(command, os.environ, file.fileno())
            else:
                self.process = subprocess.Popen(
                    command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
                )

    def text(self) -> str:
        """Return the output so far."""
        return self.log.read_text()

    def wait(self) -> int:
        """Wait for the end; return the exit code."""
        return self.process.wait(timeout=GIVE_UP)

    def end(self) -> None:
        """End the program if it runs. Raises AssertionError if it had to be killed."""
        if self.process.poll() is not None:
            return
        self.process.send_signal(self.end_signal)
        try:
            self.process.wait(timeout=GIVE_UP)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            name = self.end_signal.name
            raise AssertionError(
                f"it had to be killed: no end {GIVE_UP:g} s after {name}\n{self.text()}"
            ) from None


@contextmanager
def ended_at_last() -> Iterator[list[StartedProcess]]:
    """Yield a list for started programs; the end of the context ends them in this order."""
    started: list[StartedProcess] = []
    with ExitStack() as ends:  # all of them, also after an error of one
        try:
            yield started
        finally:
            for running in reversed(started):
                ends.callback(running.end)
