"""Hand-over of whole values between threads: one slot, the newest value wins, nobody waits."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """A single slot. `put` and `take` are atomic, so a value is seen whole and at most once."""

    def __init__(self) -> None:
        self._slot: deque[T] = deque(maxlen=1)

    def put(self, value: T) -> None:
        """Leave `value`, replacing one that was not taken."""
        self._slot.append(value)

    def take(self) -> T | None:
        """The value left last, or None if there is none that was not taken.

        Only one thread may take.
        """
        return self._slot.popleft() if self._slot else None
