"""The updates of one stream that wait for the connection."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final, Self

WAITING: Final = 64  # updates that wait at most
STALE: Final = 100_000_000  # [ns] an update waits at most while a newer one does


class Outgoing:
    """An iterator that gRPC reads in a thread of its own, until `close`.

    If a program sends faster than the connection takes its updates, the oldest ones are dropped, so
    that no old command is executed. The next update gets the lease and gains of a dropped one.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._updates: list[tuple[int, Any]] = []  # with the time it is stale from, oldest first
        self._changed = threading.Condition()
        self._closed = False
        self.dropped = 0  # updates

    def put(self, update: Any, waits: int = STALE) -> None:
        """Append an update. It is dropped after `waits` [ns], STALE at most, behind a newer one."""
        with self._changed:
            self._updates.append((self._clock() + min(waits, STALE), update))
            if len(self._updates) > WAITING:
                self._drop_oldest()
            self._changed.notify()

    def close(self) -> None:
        """End the stream after the updates that wait."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        with self._changed:
            self._changed.wait_for(lambda: self._updates or self._closed)
            now = self._clock()
            while len(self._updates) > 1 and self._updates[0][0] < now:
                self._drop_oldest()
            if self._updates:
                return self._updates.pop(0)[1]
        raise StopIteration

    def _drop_oldest(self) -> None:
        dropped, later = self._updates.pop(0)[1], self._updates[0][1]
        self.dropped += 1
        if dropped.lease:
            later.lease = dropped.lease
        if dropped.HasField("gains") and not later.HasField("gains"):
            later.gains.CopyFrom(dropped.gains)
