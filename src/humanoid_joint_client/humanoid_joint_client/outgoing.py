"""The updates of one stream that wait for the connection."""

import threading
from collections import deque
from typing import Any, Final, Self

WAITING: Final = 64  # updates that wait at most; older ones are dropped


class Outgoing:
    """An iterator that gRPC reads in a thread of its own, until `close`."""

    def __init__(self) -> None:
        self._updates: deque[Any] = deque(maxlen=WAITING)
        self._changed = threading.Condition()
        self._closed = False

    def put(self, update: Any) -> None:
        """Append an update."""
        with self._changed:
            self._updates.append(update)
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
            if self._updates:
                return self._updates.popleft()
        raise StopIteration
