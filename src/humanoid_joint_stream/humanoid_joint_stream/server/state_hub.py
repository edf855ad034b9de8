"""Passes each state to all readers, as soon as its tick is there."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

STEP: Final = 0.0002  # [s] between two looks when a tick is due
EARLY: Final = 0.0004  # [s] before a tick is due: sleep ends late, not early
IDLE: Final = 0.005  # [s] between two looks while the loop is held up
TOGETHER: Final = (
    4  # readers that wake at once: a command that comes meanwhile waits for these only
)


class Numbered(NamedTuple):
    """A message with the number of its tick."""

    number: int
    message: bytes


class StateHub:
    """Looks for new ticks while anybody reads. All readers are on one event loop.

    A reader gets the newest state at its turn: what it was too slow for is not kept, so that a
    reader costs the same memory however slow it is.

    Args:
        newest: returns number and message of a new tick, or None.
        period: [s] of wall time between two ticks; 0: unknown.
    """

    def __init__(self, newest: Callable[[], tuple[int, bytes] | None], period: float) -> None:
        self._newest, self._period = newest, period
        self.latest = Numbered(0, b"")
        self._readers: list[Reader] = []
        self._looking: asyncio.Task[None] | None = None
        self.is_stopping = False

    @property
    def readers(self) -> int:
        """Their number."""
        return len(self._readers)

    def stop(self) -> None:
        """End all readers soon. Called by any thread."""
        self.is_stopping = True

    @contextmanager
    def reader(self, decimation: int) -> Iterator["Reader"]:
        """Read the state of every `decimation`-th tick from now on."""
        reader = Reader(self, decimation)
        self._readers.append(reader)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        try:
            yield reader
        finally:
            self._readers.remove(reader)

    async def _look(self) -> None:
        due = time.monotonic()
        while self._readers and not self.is_stopping:
            found = self._newest()
            if found is None:
                # Far from due after a hold-up of the loop: look less often.
                overdue = time.monotonic() - due
                await asyncio.sleep(STEP if overdue < 4 * max(self._period, STEP) else IDLE)
                continue
            due = time.monotonic() + self._period
            self.latest = Numbered(*found)
            woken = 0
            for reader in tuple(self._readers):
                if reader.wants(found[0]) and not reader.woken.is_set():
                    reader.woken.set()
                    woken += 1
                    if woken % TOGETHER == 0:
                        await asyncio.sleep(0)
            await asyncio.sleep(max(0.0, due - time.monotonic() - EARLY))
        for reader in self._readers:
            reader.woken.set()


class Reader:
    """One reader, and the tick that it saw last."""

    def __init__(self, hub: StateHub, decimation: int) -> None:
        self.woken = asyncio.Event()
        self._hub, self._seen, self._decimation = hub, hub.latest.number, decimation

    def wants(self, number: int) -> bool:
        """Return whether it is this tick's turn."""
        return number >= self._seen + self._decimation

    async def next(self) -> bytes | None:
        """Return the newest message, once it is this reader's turn; None: the states have ended."""
        while not self._hub.is_stopping:
            number, message = self._hub.latest
            if self.wants(number):
                # Stay on the grid of the ticks where none was missed.
                self._seen = number - (number - self._seen) % self._decimation
                return message
            self.woken.clear()
            await self.woken.wait()
        return None
