"""What the log says of the drives' gains: each thing once, however often it is looked at."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from humanoid_bringup_prime.impedance.record import QUICK_RETRIES, DriveRecord
from humanoid_bringup_prime.impedance.values import Wish

logger = logging.getLogger(__name__)

MOST_NAMED: Final = 2  # drives whose failures are told in full


class Announcer:
    """Remembers what it has said."""

    def __init__(self) -> None:
        self._arming = False
        self._confirmed: Wish | None = None

    def arming(self, wish: Wish) -> None:
        """Drives are about to leave their factory gains."""
        if not self._arming:
            logger.warning(
                "arming: factory (stiff) gains give way to those of %s (switch %d)",
                wish.mode.name, wish.number,
            )  # fmt: skip
        self._arming = True

    def confirmed(self, wish: Wish, drives: int, seconds: float) -> None:
        """`wish` has come true on all drives, `seconds` after it was stated."""
        self._arming = False
        if wish != self._confirmed:
            self._confirmed = wish
            logger.info(
                "gains of %s (switch %d) confirmed on %d drives after %.1f ms",
                wish.mode.name, wish.number, drives, seconds * 1e3,
            )  # fmt: skip

    def failed(self, records: Iterable[DriveRecord]) -> None:
        """These drives have just failed: tell those that begin to, and those that go on."""
        failing = [(record.failures, record.failure) for record in records]
        if new := [text for count, text in failing if count == 1]:
            logger.warning("%s", brief(new))
        if lasting := [text for count, text in failing if count == QUICK_RETRIES]:
            tries = f"{QUICK_RETRIES} tries, from now on one a second"
            logger.error("%s: %s", tries, brief(lasting))


def brief(failures: Sequence[str]) -> str:
    """The first of `failures` in full, the others counted."""
    more = len(failures) - MOST_NAMED
    return "; ".join(failures[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
