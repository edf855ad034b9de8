"""How fast frames may be handed to an adapter, whose queue is short."""

from __future__ import annotations

from typing import Final

from humanoid_devices_can.bus import LONGEST_FRAME

BURST: Final = 5  # frames at once; Linux' CAN interfaces queue 10 (txqueuelen)
SHARE: Final = 0.6  # of the bus that the host may take


class Pace:
    """So many frames at once, then as many as the bus carries beside the motors' answers."""

    def __init__(self, bitrate: int) -> None:
        self._interval = LONGEST_FRAME / (SHARE * bitrate)  # [s]
        self._busy_until = 0.0  # [s] when all frames handed over are through, at that pace

    def wait(self, now: float) -> float:
        """How long [s] to wait at `now` [s] before the next frame."""
        return max(self._busy_until - now - (BURST - 1) * self._interval, 0.0)

    def sent(self, now: float) -> None:
        """A frame was handed over at `now` [s]."""
        self._busy_until = max(self._busy_until, now) + self._interval
