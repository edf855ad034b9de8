"""Passing whole values between threads without waiting: one slot that keeps the newest value."""

from collections import deque
from typing import Generic, TypeVar

T = TypeVar("T")


class LatestValue(Generic[T]):
    """A single slot. `put` and `take` are atomic: a value is taken whole and at most once."""

    def __init__(self) -> None:
        self._slot: deque[T] = deque(maxlen=1)

    def put(self, value: T) -> None:
        """Store `value` in place of one that was not taken."""
        self._slot.append(value)

    def take(self) -> T | None:
        """Return the newest value, None if it was taken before. Called by one thread only."""
        return self._slot.popleft() if self._slot else None
