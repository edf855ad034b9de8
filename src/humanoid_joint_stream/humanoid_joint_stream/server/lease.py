"""The lease: one client at a time may command. Time is an argument [ns]."""

import hmac
import secrets
from typing import Final

from humanoid_joint_stream.facts import SECOND

TIMEOUT: Final = 2 * SECOND  # [ns] without a call of its owner


class Lease:
    """The lease of one robot."""

    def __init__(self) -> None:
        self.owner = ""  # empty: it is free
        self._token = ""
        self._kept = 0

    def acquire(self, owner: str, now: int) -> str:
        """Return the token of a new lease; empty if another one is in force."""
        if self.is_in_force(now):
            return ""
        self.owner, self._kept = owner or "a client without a name", now
        self._token = secrets.token_hex(16)
        return self._token

    def keep(self, token: str, now: int) -> bool:
        """Return whether `token` is that of the lease in force; if so, renew it."""
        mine = self.is_in_force(now) and hmac.compare_digest(token.encode(), self._token.encode())
        if mine:
            self._kept = now
        return mine

    def end(self) -> None:
        """Free it."""
        self.owner = self._token = ""

    def is_in_force(self, now: int) -> bool:
        """Return whether a client has it."""
        return bool(self._token) and now - self._kept <= TIMEOUT
