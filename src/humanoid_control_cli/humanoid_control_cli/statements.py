"""What the mode manager states, and how a request shows in its statements. No ROS here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from humanoid_control_common.modes import MODE_OF_INTENT, Intent, Mode, waits

# A request that is refused for the same reason as the one before, or asks for the mode in force,
# changes nothing. So many unchanged statements after it mean that it was one of these: ten may have
# waited in our own queue, ten more are 0.2 s. (An acknowledgement by DDS would take up to 3 s.)
UNCHANGED_STATEMENTS: Final = 20


@dataclass(frozen=True, slots=True)
class Statement:
    """What is in force."""

    mode: Mode
    controller: str
    message: str  # why the last request was refused or the mode was left; empty if neither
    switch_number: int
    stamp: int  # [ns] of the control process's clock, simulated or not

    @property
    def in_force(self) -> str:
        """The mode, without what is said about requests."""
        return f"{self.mode.name} ({self.controller}, switch {self.switch_number})"

    def __str__(self) -> str:
        return f"{self.in_force}: {self.message}" if self.message else self.in_force


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a request that was not granted."""

    reason: str


class PendingRequest:
    """The request `intent` for a mode, published while `before` was in force."""

    def __init__(self, intent: Intent, before: Statement) -> None:
        self._target = MODE_OF_INTENT[intent]
        self._refusal = f"Rejected {intent.value}:"
        self._waits = waits(intent)
        self._before = before
        self._latest = before
        self._count = 0

    def answer(self, statement: Statement) -> Statement | Refusal | None:
        """What the next statement says about it: in force, refused, or nothing yet."""
        latest, self._latest = self._latest, statement
        self._count += 1
        settled = self._count >= UNCHANGED_STATEMENTS
        if statement.mode is self._target:
            switched = statement.switch_number != self._before.switch_number
            return statement if switched or settled else None
        if statement.message.startswith(self._waits):
            return None
        is_news = statement.message not in {"", latest.message}
        if is_news or (settled and statement.message.startswith(self._refusal)):
            return Refusal(statement.message)
        return None
