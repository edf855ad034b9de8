"""The clock that measures the silence of sources."""

from collections.abc import Callable
from typing import Final

LONGEST_LOOK: Final = 0.1  # [s] counted at most from one look to the next; looks come at 50 Hz


class StallTolerantClock:
    """Monotonic time [s] without the stalls of the thread that reads it.

    Messages that arrive during a stall wait in the middleware: the sources were not silent. So at
    most
    `LONGEST_LOOK` of a gap between two looks counts. The control loop detects long stalls of ROS
    callbacks itself.
    """

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._latest_look = monotonic()
        self._stalled = 0.0

    def now(self) -> float:
        """Return the time; this is a look."""
        now = self._monotonic()
        self._stalled += max(now - self._latest_look - LONGEST_LOOK, 0.0)
        self._latest_look = now
        return now - self._stalled
