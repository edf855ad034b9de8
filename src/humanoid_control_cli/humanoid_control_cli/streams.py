"""How fast and how fresh a stream of messages is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Stream:
    """Counts arrivals; times in [s] of one clock."""

    count: int = 0
    first: float = 0.0
    last: float = 0.0

    def arrive(self, now: float) -> None:
        """A message has arrived."""
        if self.count == 0:
            self.first = now
        self.last = now
        self.count += 1

    @property
    def span(self) -> float:
        """Time between the first and the last arrival [s]."""
        return self.last - self.first

    @property
    def rate(self) -> float:
        """Mean rate [Hz]; 0 before the second arrival."""
        return (self.count - 1) / self.span if self.span > 0.0 else 0.0
