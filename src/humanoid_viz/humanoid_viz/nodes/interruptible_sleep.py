"""Sleep that a signal handler or another thread can end."""

import contextlib
import os
import select


class InterruptibleSleep:
    """A pipe: unlike the lock of threading.Event it may be used from a signal handler."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._reader, False)
        os.set_blocking(self._writer, False)
        self.stopping = False

    def wake(self) -> None:
        """End the present sleep, or the next one."""
        with contextlib.suppress(BlockingIOError):  # full: the sleep ends anyway
            os.write(self._writer, b"\0")

    def stop(self, *_: object) -> None:
        """Set `stopping` and wake; usable as a signal handler, any number of times."""
        self.stopping = True
        self.wake()

    def sleep(self, duration: float) -> None:
        """Return after `duration` [s], or sooner if woken."""
        select.select([self._reader], [], [], duration)
        with contextlib.suppress(BlockingIOError):  # timed out
            os.read(self._reader, 4096)
