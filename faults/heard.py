"""What the operator is told of a fault, and whether that is right."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Final, Protocol

from faults.kind import Kind, Outcome, Words
from faults.violation import Breach, Violation
from humanoid_control_common.modes import Mode
from humanoid_control_common.safety import SafetyLevel

GRACE: Final = 3.0  # [s] this program may take to hear of it
_FALLEN: Final = "Fell to safety"  # how the statement begins then


class Hears(Protocol):
    """What is needed of a Witness."""

    @property
    def now(self) -> Any:
        """The latest statement."""

    @property
    def safety(self) -> Sequence[Any]:
        """The reports."""

    def within(self, seconds: float, condition: Callable[[], object]) -> bool:
        """Whether `condition` comes true in time."""

    def fresh(self, seconds: float, count: int = 3) -> bool:
        """Whether statements still come."""

    def ask(self, mode: int) -> None:
        """Publish one request."""


class Heard:
    """Compares statements and safety reports with what a kind of fault should lead to."""

    def __init__(self, witness: Hears, kind: Kind, before: Mode, joint: str) -> None:
        self._witness, self._kind, self._before = witness, kind, before
        self._words = kind.words(joint)

    @property
    def words(self) -> str:
        """What must be said of the fault, as a regular expression; empty: anything."""
        return "|".join(words.said for words in self._words)

    @property
    def fell(self) -> bool:
        """Whether the robot is said to have fallen to DAMPING."""
        return bool(self._witness.now.mode == Mode.DAMPING and self._tells_of_a_fall)

    @property
    def left(self) -> bool:
        """Whether the mode of before is no longer in force, or was fallen to."""
        return bool(self._witness.now.mode != self._before or self._tells_of_a_fall)

    def listen(self) -> list[Violation]:
        """Wait for what must be heard at once; what is missing."""
        if self._kind.outcome is not Outcome.SOFT:
            return []
        witness = self._witness
        if not witness.within(self._kind.within + GRACE, lambda: self.fell):
            now = witness.now
            return [Violation(Breach.NO_FALL, f"mode {now.mode}, {now.status_message!r}")]
        return self._wrong_words()

    def conclude(self) -> list[Violation]:
        """While the fault lasts: what is wrong with the mode it has led to."""
        witness, outcome = self._witness, self._kind.outcome
        if outcome is Outcome.OFF:
            return []
        if not witness.fresh(GRACE):
            return [Violation(Breach.SILENT, f"no statement for {GRACE:g} s")]
        if outcome is Outcome.STAYS:
            return self._stayed()
        if self.fell:
            wrong = self._wrong_words() if outcome is Outcome.EITHER else []
            return wrong + self._goes_up()
        asked_itself = self._kind.asks or witness.now.mode == self._before
        return [] if asked_itself else [self._departure()]

    def _stayed(self) -> list[Violation]:
        """Whether it did, and said what it should."""
        if self.left:
            return [self._departure()]
        return self._wrong_words() if self.words else []

    def _departure(self) -> Violation:
        now = self._witness.now
        text = f"{self._before.name}; mode {now.mode}, {now.status_message!r}"
        return Violation(Breach.LEFT, text)

    def _goes_up(self) -> list[Violation]:
        """Whether a request is enough to have a robot that fell go up again."""
        witness = self._witness
        witness.ask(Mode.STANDBY)
        witness.fresh(GRACE)
        if witness.now.mode != Mode.DAMPING:
            return [Violation(Breach.UP_AGAIN, f"mode {witness.now.mode}")]
        return []

    def _wrong_words(self) -> list[Violation]:
        witness = self._witness
        if witness.within(GRACE, lambda: any(map(self._is_said, self._words))):
            return []
        sources = {words.source for words in self._words}
        told = [
            f"{it.source} {it.level} {it.flags:#x} {it.message!r}"
            for it in witness.safety
            if it.source in sources
        ]
        text = f"{witness.now.status_message!r}; reported: {told[-4:]}; demanded: {self.words!r}"
        return [Violation(Breach.WRONG_WORDS, text)]

    @property
    def _tells_of_a_fall(self) -> bool:
        return bool(self._witness.now.status_message.startswith(_FALLEN))

    def _is_said(self, words: Words) -> bool:
        witness = self._witness
        if not words.source:
            return bool(re.search(words.said, witness.now.status_message))
        return words.source in witness.now.status_message and any(
            it.source == words.source
            and it.level >= SafetyLevel.FAULT
            and it.flags & words.flags == words.flags
            and re.search(words.said, it.message)
            for it in witness.safety
        )
