"""Rate and age of a stream of messages."""

from dataclasses import dataclass
from typing import Final

# [s] at the beginning that does not count: messages kept for a new subscriber come at once.
BURST: Final = 0.1


@dataclass(slots=True)
class Stream:
    """Counts arrivals; times in [s] of one clock."""

    count: int = 0  # of all
    last: float = 0.0  # arrival of the latest
    _very_first: float = 0.0
    _first: float = 0.0  # after the burst
    _intervals: int = 0  # since then

    def arrive(self, now: float) -> None:
        """Count a message."""
        if self.count == 0:
            self._very_first = now
        if now - self._very_first <= BURST:
            self._first = now
        else:
            self._intervals += 1
        self.last = now
        self.count += 1

    @property
    def span(self) -> float:
        """Time over which the rate is measured so far [s]."""
        return self.last - self._first

    @property
    def rate(self) -> float:
        """Mean rate [Hz]; 0 as long as nothing was measured."""
        return self._intervals / self.span if self.span > 0.0 else 0.0
