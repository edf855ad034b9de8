"""How old a message is whose sender may run on another machine, with another clock."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Final

WINDOW: Final = 10.0  # [s] within which the shortest way of a message is remembered, at least
MOST_SENDERS: Final = 8


class MessageAge:
    """Judges how much later than usual a message comes, by the time its middleware stamped it.

    A middleware may say that a message was received when it was merely looked at; then one that was
    left waiting, or sent again after the network came back, seems fresh. The stamp of its sending
    doesn't change, but is of the sender's clock. The shortest time between a sender's stamps and
    their arrival here is the difference of the two clocks and the shortest way; what is beyond it
    is delay. It is learned anew all the time, for clocks drift and are set: after a clock was set
    messages may seem late for up to two windows, never fresh.
    """

    def __init__(self) -> None:
        self._shortest: dict[Hashable, _Shortest] = {}

    def lateness(self, sender: Hashable, sent: int, now: int, monotonic: float) -> float:
        """How much later [s] a message comes than it could.

        Args:
            sender: tells senders apart, as far as the middleware does.
            sent: its stamp, of the sender's clock [ns]; 0 if the middleware has none.
            now: the system's time [ns].
            monotonic: [s].
        """
        if sent == 0:
            return 0.0
        if sender not in self._shortest and len(self._shortest) >= MOST_SENDERS:
            del self._shortest[next(iter(self._shortest))]
        shortest = self._shortest.setdefault(sender, _Shortest(monotonic))
        return (now - sent - shortest.of(now - sent, monotonic)) * 1e-9


class _Shortest:
    """The smallest value of the present and the last window."""

    def __init__(self, monotonic: float) -> None:
        self._began = monotonic
        self._last: int | None = None
        self._present: int | None = None

    def of(self, value: int, monotonic: float) -> int:
        if monotonic - self._began > WINDOW:
            self._began, self._last, self._present = monotonic, self._present, None
        self._present = value if self._present is None else min(self._present, value)
        return self._present if self._last is None else min(self._present, self._last)
