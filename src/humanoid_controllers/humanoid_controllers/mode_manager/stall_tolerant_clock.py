"""The clock that measures the silence of sources."""

from collections.abc import Callable
from typing import Final

LONGEST_GAP: Final = 0.1  # [s] counted at most between two readings; they come at 50 Hz


class StallTolerantClock:
    """Monotonic time [s] without the stalls of the thread that reads it.

    Messages that arrive during a stall wait in the middleware: the sources were not silent. So at
    most `LONGEST_GAP` of the time between two readings counts. The control loop detects long
    stalls of ROS callbacks itself.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._latest_reading = monotonic()
        self._stalled = 0.0

    def now(self) -> float:
        """Return the time; this is a reading."""
        now = self._monotonic()
        self._stalled += max(now - self._latest_reading - LONGEST_GAP, 0.0)
        self._latest_reading = now
        return now - self._stalled
