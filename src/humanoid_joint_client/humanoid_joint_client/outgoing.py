"""The updates of one stream that wait for the connection."""

import threading
import time
from collections.abc import Callable
from typing import Any, Final, Self

WAITING: Final = 64  # updates that wait at most
STALE: Final = 100_000_000  # [ns] an update waits at most while a newer one does


class Outgoing:
    """An iterator that gRPC reads in a thread of its own, until `close`.

    A program that sends faster than the connection takes it does not command the past: the oldest
    updates are dropped. The lease of the first one, and the latest gains, are not: they hold on.
    """

    def __init__(self, clock: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock = clock
        self._updates: list[tuple[int, Any]] = []  # with the time of `put`, oldest first
        self._changed = threading.Condition()
        self._closed = False

    def put(self, update: Any) -> None:
        """Append an update."""
        with self._changed:
            self._updates.append((self._clock(), update))
            self._drop(0)
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
            self._drop(self._clock() - STALE)
            if self._updates:
                return self._updates.pop(0)[1]
        raise StopIteration

    def _drop(self, since: int) -> None:
        """Drop what is older than `since` [ns], and what is too much, but not the newest."""
        at, newest = 0, len(self._updates) - 1
        while at < newest and (self._updates[at][0] < since or newest >= WAITING):
            if self._holds_on(at):
                at += 1
            else:
                del self._updates[at]
                newest -= 1

    def _holds_on(self, at: int) -> bool:
        update = self._updates[at][1]
        if update.lease:
            return True
        later = (it.HasField("gains") for _, it in self._updates[at + 1 :])
        return update.HasField("gains") and not any(later)
