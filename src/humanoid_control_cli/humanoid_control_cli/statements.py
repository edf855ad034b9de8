"""What the mode manager states, and how a request shows in its statements. No ROS here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from humanoid_control_common.modes import Mode

# So many statements after a request (0.2 s) with the reason of an earlier refusal, word for word,
# mean that the request was refused for that reason too.
UNCHANGED_STATEMENTS: Final = 10


@dataclass(frozen=True, slots=True)
class Statement:
    """What is in force."""

    mode: Mode
    controller: str
    message: str  # why the last request was refused or the mode was left; empty if neither
    switch_number: int
    stamp: int  # [ns] of the control process's clock, simulated or not

    def __str__(self) -> str:
        text = f"{self.mode.name} ({self.controller}, switch {self.switch_number})"
        return f"{text}: {self.message}" if self.message else text


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a request that was not granted."""

    reason: str


class PendingRequest:
    """A request for the mode `target`, published when `before` was in force."""

    def __init__(self, target: Mode, before: Statement) -> None:
        self._target = target
        self._before = before
        self._unchanged = 0

    def answer(self, statement: Statement) -> Statement | Refusal | None:
        """What the next statement says about it: granted, refused, or nothing yet."""
        before = self._before
        if statement.mode is self._target and statement.switch_number != before.switch_number:
            return statement
        if statement.message and statement.message != before.message:
            return Refusal(statement.message)
        if statement.message:
            self._unchanged += 1
            if self._unchanged >= UNCHANGED_STATEMENTS:
                return Refusal(statement.message)
        return None
