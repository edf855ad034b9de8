"""Record the signals that stop `hc up`, for its event loop."""

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Final, Self

# SIGQUIT is Ctrl-\: without a handler it ends a program at once, whatever still moves.
TERMINAL_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class StopSignals:
    """From entry on, TERMINAL_SIGNALS are only counted.

    From exit on they are ignored: the process is about to end, with its own exit code. A SIGHUP
    that is ignored from the start (nohup) stays so.
    """

    def __init__(self) -> None:
        self.count = 0
        self.latest = ""  # name of the latest signal
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)

    def __enter__(self) -> Self:
        self._set(self._note)
        # Python runs a handler between two of its instructions: a signal just before the wait
        # would be noticed after it. Written by the C handler, the pipe ends the wait.
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        return self

    def __exit__(self, *_: object) -> None:
        signal.set_wakeup_fd(-1)
        self._set(signal.SIG_IGN)
        os.close(self._reader)
        os.close(self._writer)

    @property
    def descriptor(self) -> int:
        """Readable when a signal has come since the last `clear`."""
        return self._reader

    def clear(self) -> None:
        """Make the descriptor wait for the next signal."""
        with suppress(BlockingIOError):  # cleared already
            os.read(self._reader, 4096)

    def _set(self, handler: signal.Handlers | Callable[[int, FrameType | None], None]) -> None:
        for number in TERMINAL_SIGNALS:
            if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, handler)

    def _note(self, number: int, _: FrameType | None) -> None:
        self.count += 1
        self.latest = signal.Signals(number).name
