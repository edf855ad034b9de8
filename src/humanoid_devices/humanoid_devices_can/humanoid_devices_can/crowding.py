"""Tells when more than one motor answers to an id: together they say more than one would."""

from __future__ import annotations

from typing import Final

_TOLERANCE: Final = 1.3  # times what one motor says
_ANSWERS: Final = 20.0  # more than orders, and missing ones that may still come
_BACKLOG: Final = 1.0  # [s] of feedback that may come at once after the receiver was held up
_EXCESS: Final = 0.5  # [s] of feedback too many


class Crowding:
    """Counts the frames of each motor against those expected.

    Args:
        motors: how many.
        rate: frames per second that one motor sends by itself; 0: one per order.
    """

    def __init__(self, motors: int, rate: float) -> None:
        self._rate = rate * _TOLERANCE
        self._floor = -rate * _BACKLOG if rate else -_ANSWERS
        self._most = rate * _EXCESS if rate else _ANSWERS
        self._excess = [0.0] * motors
        self._last = [0.0] * motors  # [s]

    def asked(self, motor: int) -> None:
        """An order was sent, which one motor answers with one frame."""
        if not self._rate:
            self._excess[motor] = max(self._excess[motor] - _TOLERANCE, self._floor)

    def heard(self, motor: int, now: float) -> None:
        """A frame came at `now` [s]."""
        self._excess[motor] = max(self._left(motor, now), self._floor) + 1.0
        self._last[motor] = now

    def crowded(self, motor: int, now: float) -> bool:
        """Whether that has been too many frames for one motor, by `now` [s]."""
        return self._left(motor, now) > self._most

    def _left(self, motor: int, now: float) -> float:
        return self._excess[motor] - self._rate * (now - self._last[motor])
