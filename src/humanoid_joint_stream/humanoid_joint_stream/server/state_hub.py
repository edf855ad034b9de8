"""Pass each state to all readers, as soon as its tick is recorded."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

STEP: Final = 0.0002  # [s] between two checks when a tick is due
EARLY: Final = 0.0004  # [s] before a tick is due: sleep ends late, not early
IDLE: Final = 0.005  # [s] between two checks while the loop is held up
KEPT: Final = 0.05  # [s] of states that a reader which was held up for a moment still gets
TOGETHER: Final = (
    4  # readers that wake at once: a command that comes meanwhile waits for these only
)
UNREADABLE: Final = "the ticks of the control process cannot be read"

logger = logging.getLogger(__name__)


class NumberedState(NamedTuple):
    """A message with the number of its tick."""

    number: int
    message: bytes


def kept(period: float) -> int:
    """Return how many states are KEPT, at least 1; `period` [s] lies between two."""
    return max(1, round(KEPT / period)) if period > 0.0 else 1


class StateHub:
    """Looks for new ticks while it has readers. All readers are on one event loop.

    A reader gets one state after the other. A reader that is KEPT states behind continues with the
    newest one, so that a slow reader needs no more memory.

    Args:
        fresh: returns the ticks that are new since the last call, KEPT of them at most.
        period: [s] of wall time between two ticks; 0: unknown.
    """

    def __init__(self, fresh: Callable[[], Sequence[NumberedState]], period: float) -> None:
        self._fresh, self._period = fresh, period
        self._kept = deque([NumberedState(0, b"")], maxlen=kept(period))
        self._readers: list[Reader] = []
        self._serving: asyncio.Task[None] | None = None
        self._stopped = ""  # why; empty: it is not

    @property
    def latest(self) -> NumberedState:
        """The newest state."""
        return self._kept[-1]

    def after(self, number: int) -> NumberedState | None:
        """Return the state of tick `number`, or a later one; None: it is still to come."""
        if self._kept[0].number > number:
            return self._kept[-1]
        return next((it for it in self._kept if it.number >= number), None)

    @property
    def readers(self) -> int:
        """Their number."""
        return len(self._readers)

    def stop(self, why: str) -> None:
        """End all readers soon. Called by any thread."""
        self._stopped = why

    @property
    def end(self) -> str:
        """Why no state comes any more: that of `stop`, or ticks cannot be read; empty: they do."""
        if self._serving is not None and self._serving.done():
            return self._stopped or UNREADABLE
        return self._stopped

    @contextmanager
    def reader(self, decimation: int) -> Iterator["Reader"]:
        """Read the state of every `decimation`-th tick from now on."""
        reader = Reader(self, decimation)
        self._readers.append(reader)
        if self._serving is None or self._serving.done():
            self._serving = asyncio.create_task(self._serve_readers())
        try:
            yield reader
        finally:
            self._readers.remove(reader)

    async def _serve_readers(self) -> None:
        try:
            await self._pass_on()
        except Exception:
            logger.exception(UNREADABLE)
        for reader in self._readers:
            # Not before the task has ended, which a reader checks.
            asyncio.get_running_loop().call_soon(reader.woken.set)

    async def _pass_on(self) -> None:
        due = time.monotonic()
        while self._readers and not self._stopped:
            found = self._fresh()
            if not found:
                # Far from due after a hold-up of the loop: check less often.
                overdue = time.monotonic() - due
                await asyncio.sleep(STEP if overdue < 4 * max(self._period, STEP) else IDLE)
                continue
            due = time.monotonic() + self._period
            self._kept.extend(found)
            woken = 0
            for reader in tuple(self._readers):
                if reader.wants(self.latest.number) and not reader.woken.is_set():
                    reader.woken.set()
                    woken += 1
                    if woken % TOGETHER == 0:
                        await asyncio.sleep(0)
            await asyncio.sleep(max(0.0, due - time.monotonic() - EARLY))


class Reader:
    """One reader, and the tick that it saw last. `decimation` may change."""

    def __init__(self, hub: StateHub, decimation: int) -> None:
        self.woken = asyncio.Event()
        self._hub, self._seen, self.decimation = hub, hub.latest.number, decimation

    def wants(self, number: int) -> bool:
        """Return whether it is this tick's turn."""
        return number >= self._seen + self.decimation

    async def next(self) -> bytes | None:
        """Return the next message, once it is there; None: the states have ended."""
        while not self._hub.end:
            found = self._hub.after(self._seen + self.decimation)
            if found is not None:
                # Stay on the grid of the ticks where none was missed.
                self._seen = found.number - (found.number - self._seen) % self.decimation
                return found.message
            self.woken.clear()
            await self.woken.wait()
        return None
