"""The time by which silence is judged."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

LONGEST_LOOK: Final = 0.1  # [s] that may count from one look to the next; they come at 50 Hz


class AttentiveClock:
    """Monotonic time [s] in which its owner, one thread, was there to listen.

    Who was held up doesn't know whether others were silent: what they said waits to be heard. So of
    a gap between two looks only `LONGEST_LOOK` counts. That ROS callbacks are held up for long is
    for the control loop to notice.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._looked = monotonic()
        self._missed = 0.0

    def now(self) -> float:
        """Look at it."""
        now = self._monotonic()
        self._missed += max(now - self._looked - LONGEST_LOOK, 0.0)
        self._looked = now
        return now - self._missed
