"""Passes each state to all readers, as soon as its tick is there."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

IDLE: Final = 0.02  # [s] between two looks while nobody reads
STEP: Final = 0.0002  # [s] between two looks when a tick is due
EARLY: Final = 0.0004  # [s] before a tick is due: sleep ends late, not early
LONGEST: Final = 0.5  # [s] a reader waits before it looks for its end


class Numbered(NamedTuple):
    """A message with the number of its tick."""

    number: int
    message: bytes


class StateHub:
    """Looks for new ticks in a thread of its own while anybody reads.

    A reader gets the newest state at its turn: what it was too slow for is not kept.

    Args:
        newest: returns number and message of a new tick, or None.
        period: [s] of wall time between two ticks; 0: unknown.
    """

    def __init__(self, newest: Callable[[], tuple[int, bytes] | None], period: float) -> None:
        self._newest, self._period = newest, period
        self._changed = threading.Condition()
        self._latest = Numbered(0, b"")
        self.readers = 0  # their number
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="states", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and all readers."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        self._thread.join()

    def read(self, decimation: int, is_active: Callable[[], bool]) -> Iterator[bytes]:
        """Yield the state of every `decimation`-th tick while `is_active`."""
        with self._changed:
            self.readers += 1
            seen = self._latest.number
            self._changed.notify_all()
        try:
            while is_active() and not self._stopping:
                with self._changed:
                    wanted = seen + decimation
                    self._changed.wait_for(
                        lambda: self._latest.number >= wanted or self._stopping,  # noqa: B023
                        LONGEST,
                    )
                    latest = self._latest
                if latest.number >= wanted:
                    # Stay on the grid of the ticks where none was missed.
                    seen = latest.number - (latest.number - seen) % decimation
                    yield latest.message
        finally:
            with self._changed:
                self.readers -= 1

    def _run(self) -> None:
        due = time.monotonic()
        while not self._stopping:
            if not self.readers:
                with self._changed:
                    self._changed.wait_for(lambda: self.readers or self._stopping, LONGEST)
                continue
            found = self._newest()
            if found is None:
                # Far from due after a hold-up of the loop: look less often.
                overdue = time.monotonic() - due
                time.sleep(STEP if overdue < 4 * max(self._period, STEP) else IDLE / 4)
                continue
            due = time.monotonic() + self._period
            with self._changed:
                self._latest = Numbered(*found)
                self._changed.notify_all()
            remaining = due - time.monotonic() - EARLY
            if remaining > 0.0:
                time.sleep(remaining)
