"""Which messages of /control_mode are acted upon."""

from __future__ import annotations

import logging
from typing import Final

from humanoid_bringup_prime.impedance.values import Wish
from humanoid_control_common.modes import Mode

logger = logging.getLogger(__name__)

OLDEST: Final = 1.0  # [s] between the stamp of a statement and its arrival; live it is some ms


class StatementFilter:
    """Tells live statements from requests, and from statements of a recording that is replayed.

    A recording keeps the stamps it was made with. Sender and receiver share a machine, hence a
    clock. Whatever gets through: a component refuses writes for a mode and number not in force.
    """

    def __init__(self, *, follow_requests: bool) -> None:
        self._follow_requests = follow_requests
        self._complained = ""

    def wish(self, mode: int, controller_name: str, number: int, age: float | None) -> Wish | None:
        """The wish in a message stamped `age` [s] ago, None if it bears no stamp; or nothing."""
        if not controller_name and not self._follow_requests:
            return None
        if mode not in list(Mode):
            self._complain(f"there is no mode {mode}")
        elif controller_name and age is not None and age > OLDEST:
            # No age in the text: it would be another complaint each time.
            self._complain(f"it is stamped more than {OLDEST:g} s ago: a recording, or two clocks")
        else:
            return Wish(Mode(mode), number)
        return None

    def _complain(self, reason: str) -> None:
        if reason != self._complained:
            self._complained = reason
            logger.warning("a message on /control_mode is ignored: %s", reason)
