"""Statements of the mode manager, and the answer to a request in them. No ROS here."""

from dataclasses import dataclass
from typing import Final

from humanoid_control_common.rules.modes import MODE_OF_INTENT, Intent, Statement, refused, waits
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY, REFUSED
from humanoid_control_common.rules.reasons import Reason
from humanoid_controllers.reason_codes import POWERING_DOWN, SWITCH_FAILED

# A request that is refused for the same reason as the one before, or is for the mode in force,
# changes nothing. This many unchanged statements mean that it was one of these: ten may have
# waited in the own queue, ten more are 0.2 s. (An acknowledgement by DDS would take up to 3 s.)
UNCHANGED_STATEMENTS: Final = 20
# Reasons that answer any request that is under way. The refusal of another request does not.
_REFUSALS: Final = frozenset(code.name for code in REFUSED.values())
_ANY_REQUEST: Final = frozenset({FELL_TO_SAFETY.name, SWITCH_FAILED.name, POWERING_DOWN.name})


@dataclass(frozen=True, slots=True)
class StampedStatement(Statement):
    """One statement of the mode manager, as received."""

    stamp: int  # [ns] of the control process's clock, simulated or not


@dataclass(frozen=True, slots=True)
class Refusal:
    """The answer to a request that was not granted."""

    reason: Reason


@dataclass(frozen=True, slots=True)
class Replaced:
    """The answer is not stated any more: that of another request has taken its place."""


class PendingRequest:
    """The request `intent` for a mode, published while `before` was in force."""

    def __init__(self, intent: Intent, before: StampedStatement) -> None:
        self._target = MODE_OF_INTENT[intent]
        self._refused, self._waits = refused(intent), waits(intent)
        self._answers = {self._refused.name, *_ANY_REQUEST}
        self._before = before
        self._latest = before
        self._count = 0
        self._unchanged = 0  # statements since the latest change
        self.overtaken = False  # whether the answer to another request was stated

    def answer(self, statement: StampedStatement) -> StampedStatement | Refusal | Replaced | None:
        """Evaluate the next statement: in force, refused, replaced, or None as yet."""
        latest, self._latest = self._latest, statement
        self._count += 1
        settled = self._count >= UNCHANGED_STATEMENTS
        if statement.mode is self._target:
            switched = statement.switch_number != self._before.switch_number
            return statement if switched or settled else None
        reason = statement.reason
        if self._waits is not None and self._waits in reason:
            self._unchanged, self.overtaken = 0, False
            return None
        is_news = reason != latest.reason and bool(self._answers.intersection(reason.codes[:1]))
        if is_news or (settled and self._refused in reason):
            return Refusal(reason)
        self._note_change(latest, statement)
        settled_since = self._unchanged >= UNCHANGED_STATEMENTS
        return Replaced() if self.overtaken and settled_since else None

    def _note_change(self, latest: StampedStatement, statement: StampedStatement) -> None:
        switched = statement.switch_number != latest.switch_number
        if switched or statement.reason != latest.reason:
            self._unchanged = 0
            self.overtaken |= switched or bool(_REFUSALS.intersection(statement.reason.codes[:1]))
        else:
            self._unchanged += 1
