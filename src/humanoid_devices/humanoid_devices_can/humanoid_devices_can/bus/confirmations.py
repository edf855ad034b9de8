"""Confirmations of an adapter, by the time at which it was given what it confirms."""

import math
from collections import deque
from contextlib import suppress
from typing import Final

_MOST: Final = 1000  # frames without a confirmation; older ones are no longer waited for


class Confirmations:
    """Times [s] at which an adapter was given something that it will confirm, oldest first.

    It confirms in the order in which it was given it, behind all that it has received. One thread
    may call `given`, `refused` and `lost` while another calls `confirm`.
    """

    def __init__(self) -> None:
        self.until = -math.inf  # [s] what was given until then is confirmed
        self._waiting: deque[tuple[object, float]] = deque(maxlen=_MOST)

    def may_give(self, before: float) -> bool:
        """Return whether nothing that was given since `before` [s] waits for its confirmation."""
        return not self._waiting or self._waiting[-1][1] <= before

    def given(self, what: object, now: float) -> None:
        """Note what the adapter is given at `now` [s]. Call it before."""
        self._waiting.append((what, now))

    def refused(self) -> None:
        """Note that the adapter has not taken what it was given last."""
        with suppress(IndexError):
            self._waiting.pop()

    def lost(self, before: float) -> None:
        """Wait no more for the confirmations of what was given earlier than `before` [s]."""
        with suppress(IndexError):
            while self._waiting[0][1] < before:
                self._waiting.popleft()

    def confirm(self, what: object) -> bool:
        """Note that it has confirmed `what`; return False if it was not given that.

        Of equal things it is the oldest one: what is lost makes the others count as older.
        """
        if all(it != what for it, _ in tuple(self._waiting)):
            return False
        found = None
        while found != what:
            found, self.until = self._waiting.popleft()
        return True
