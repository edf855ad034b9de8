"""What became of the commands that came for REMOTE, for an operator. No ROS here."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Final

from humanoid_control_common.diagnosis import Diagnosis, DiagnosisLevel

NAME: Final = "remote: commands"
PERIOD: Final = 1.0  # [s] between two reports
SHORTEST: Final = 0.1  # [s] between two, if there is something new to tell
LONGEST_REASON: Final = 240  # characters: a message may name any joints


@dataclass(frozen=True, slots=True)
class Refused:
    """The latest command that was refused; replaced as a whole."""

    count: int  # refused up to it, since the start
    number: int  # its own, counting what came
    at: float  # [s]
    reason: str


class RemoteReport:
    """Counts commands, and says when there is a report to be made.

    `received` is called by one thread, everything else by another. Times are monotonic [s].
    """

    def __init__(self) -> None:
        self._received = 0
        self._refused: Refused | None = None
        self._reported_at = -inf
        self._told_state = ""
        self._told_count = 0
        self._told_level = DiagnosisLevel.OK

    def received(self, now: float, refusal: str = "") -> None:
        """A command came; `refusal` says why it is not followed, if it isn't."""
        self._received += 1
        if refusal:
            count = self._refused.count + 1 if self._refused else 1
            self._refused = Refused(count, self._received, now, refusal[:LONGEST_REASON])

    def due(self, state: str, now: float) -> Diagnosis | None:
        """What is to be published at `now`, if anything is; `state` says what REMOTE does.

        WARN while commands are refused: since the report before.
        """
        refused, since = self._refused, now - self._reported_at
        new = refused is not None and refused.count != self._told_count
        changed = state != self._told_state or (new and self._told_level is DiagnosisLevel.OK)
        if since < (SHORTEST if changed else PERIOD):
            return None
        level = DiagnosisLevel.WARN if new else DiagnosisLevel.OK
        self._reported_at, self._told_state, self._told_level = now, state, level
        values = {"received": str(self._received), "refused": "0"}
        if refused is None:
            return Diagnosis(NAME, level, state, values)
        self._told_count = refused.count
        values["refused"] = str(refused.count)
        values["latest refusal [s ago]"] = f"{now - refused.at:.1f}"
        text = f"{state}; {refused.count} refused, the latest (number {refused.number}): "
        return Diagnosis(NAME, level, text + refused.reason, values)
