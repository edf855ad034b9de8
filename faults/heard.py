"""What the operator is told of a fault, and whether that is right."""

from __future__ import annotations

import re
from typing import Final

from faults.kind import Kind, Outcome
from faults.witness import Witness
from humanoid_control_common.modes import Mode
from humanoid_control_common.safety import SafetyLevel

GRACE: Final = 3.0  # [s] this program may take to hear of it
_FALLEN: Final = "Fell to safety"  # how the statement begins then


class Heard:
    """Compares statements and safety reports with what a kind of fault should lead to."""

    def __init__(self, witness: Witness, kind: Kind, before: Mode, joint: str) -> None:
        self._witness, self._kind, self._before = witness, kind, before
        self._said = kind.said.format(joint=joint)

    @property
    def words(self) -> str:
        """What must be said of the fault, as a regular expression; empty: anything."""
        return self._said

    @property
    def fell(self) -> bool:
        """Whether the robot is said to have fallen to DAMPING."""
        return bool(self._witness.now.mode == Mode.DAMPING and self._tells_of_a_fall)

    @property
    def left(self) -> bool:
        """Whether the mode of before is no longer in force, or was fallen to."""
        return bool(self._witness.now.mode != self._before or self._tells_of_a_fall)

    def listen(self) -> list[str]:
        """Wait for what must be heard at once; what is missing."""
        if self._kind.outcome is not Outcome.SOFT:
            return []
        witness = self._witness
        if not witness.within(self._kind.within + GRACE, lambda: self.fell):
            now = witness.now
            return [f"no fall is stated: mode {now.mode}, {now.status_message!r}"]
        if witness.within(GRACE, self._is_right):
            return []
        told = [
            f"{it.source} {it.level} {it.flags:#x} {it.message!r}"
            for it in witness.safety
            if it.source == self._kind.source
        ]
        return [f"wrong words: {witness.now.status_message!r}; reported: {told[-4:]}"]

    def conclude(self) -> list[str]:
        """While the fault lasts: what is wrong with the mode it has led to."""
        witness, outcome = self._witness, self._kind.outcome
        if outcome is Outcome.OFF:
            return []
        if not witness.fresh(GRACE):
            return ["the robot says nothing any more"]
        now = witness.now
        if outcome is Outcome.STAYS and self.left:
            return [f"left {self._before.name}: mode {now.mode}, {now.status_message!r}"]
        if not self.fell:
            return []
        witness.ask(Mode.STANDBY)
        witness.fresh(GRACE)
        if witness.now.mode != Mode.DAMPING:
            return [f"up again by itself: mode {witness.now.mode}"]
        return []

    @property
    def _tells_of_a_fall(self) -> bool:
        return bool(self._witness.now.status_message.startswith(_FALLEN))

    def _is_right(self) -> bool:
        kind, witness = self._kind, self._witness
        if not kind.source:
            return bool(re.search(self._said, witness.now.status_message))
        return kind.source in witness.now.status_message and any(
            it.source == kind.source
            and it.level >= SafetyLevel.FAULT
            and it.flags & kind.flags == kind.flags
            and re.search(self._said, it.message)
            for it in witness.safety
        )
