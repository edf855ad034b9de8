"""Which gains the motors have, as far as the host can know."""

from __future__ import annotations

from collections.abc import Sequence

from humanoid_devices_can.bus import CanFrame


class GainsMemory:
    """Gains are sent when they differ from those sent last, and again every `refresh` [s].

    They count as sent only once they were transmitted, and no more after `forget`.
    """

    def __init__(self, motors: int, refresh: float) -> None:
        self._refresh = refresh
        self._sent: list[tuple[CanFrame, float] | None] = [None] * motors

    def due(self, frames: Sequence[CanFrame], now: float) -> list[int]:
        """Which motors must be sent their frame at `now` [s]."""
        return [i for i, frame in enumerate(frames) if self._is_due(i, frame, now)]

    def sent(self, motor: int, frame: CanFrame, now: float) -> None:
        """`frame` was transmitted at `now` [s]."""
        self._sent[motor] = frame, now

    def forget(self, motor: int) -> None:
        """The motor may have lost its gains."""
        self._sent[motor] = None

    def forget_all(self) -> None:
        """Any of them may have."""
        self._sent = [None] * len(self._sent)

    def _is_due(self, motor: int, frame: CanFrame, now: float) -> bool:
        sent = self._sent[motor]
        return sent is None or sent[0] != frame or now - sent[1] >= self._refresh
