"""Statements of the mode manager, and the answer to a request in them. No ROS here."""

from dataclasses import dataclass
from typing import Final

from humanoid_control_common.modes import MODE_OF_INTENT, Intent, Mode, waits

# A request that is refused for the same reason as the one before, or is for the mode in force,
# changes nothing. This many unchanged statements mean that it was one of these: ten may have
# waited in the own queue, ten more are 0.2 s. (An acknowledgement by DDS would take up to 3 s.)
UNCHANGED_STATEMENTS: Final = 20


@dataclass(frozen=True, slots=True)
class ModeStatus:
    """One statement of the mode manager."""

    mode: Mode
    controller: str
    message: str  # why the last request was refused or the mode was left; empty if neither
    switch_number: int
    stamp: int  # [ns] of the control process's clock, simulated or not

    @property
    def in_force(self) -> str:
        """The mode in force, without the message."""
        return f"{self.mode.name} ({self.controller}, switch {self.switch_number})"

    def __str__(self) -> str:
        return f"{self.in_force}: {self.message}" if self.message else self.in_force


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a request that was not granted."""

    reason: str


class PendingRequest:
    """The request `intent` for a mode, published while `before` was in force."""

    def __init__(self, intent: Intent, before: ModeStatus) -> None:
        self._target = MODE_OF_INTENT[intent]
        self._refusal = f"Rejected {intent.value}:"
        self._waits = waits(intent)
        self._before = before
        self._latest = before
        self._count = 0

    def answer(self, statement: ModeStatus) -> ModeStatus | Refusal | None:
        """Evaluate the next statement: in force, refused, or None as yet."""
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
