"""Simplifications of a trial that a seed has drawn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final, Self

from fault_campaign.scenario import Scenario, Start

SHORTEST: Final = 0.05  # [s] from the mode to the fault
_PARTS: Final = ("first", "second")  # of two faults


@dataclass(frozen=True, slots=True)
class Simplification:
    """Parts of a trial that are left out or changed. With all defaults the trial is as drawn."""

    part: int | None = None  # index of the fault that stays, of two
    start: Start | None = None  # replaces the mode drawn
    unloaded: bool = False  # no payload
    untouched: bool = False  # no pushes from outside
    soon: bool = False  # the fault comes at once

    def applied(self, scenario: Scenario) -> Scenario:
        """Return the simpler scenario."""
        return replace(
            scenario,
            start=self.start or scenario.start,
            payload=0.0 if self.unloaded else scenario.payload,
            pushes={} if self.untouched else scenario.pushes,
            wait=SHORTEST if self.soon else scenario.wait,
        )

    def with_flag(self, name: str) -> Self:
        """Return a copy that also has the flag of this name."""
        flag: dict[str, Any] = {name: True}
        return replace(self, **flag)

    def __str__(self) -> str:
        words = [] if self.part is None else [_PARTS[self.part]]
        words += [] if self.start is None else [self.start.name]
        flags = ("unloaded", "untouched", "soon")
        return ",".join([*words, *(name for name in flags if getattr(self, name))])

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the text that `str` writes. Raises ValueError for another word."""
        found = cls()
        for word in filter(None, text.split(",")):
            if word in _PARTS:
                found = replace(found, part=_PARTS.index(word))
            elif word in Start.__members__:
                found = replace(found, start=Start[word])
            elif word in ("unloaded", "untouched", "soon"):
                found = found.with_flag(word)
            else:
                known = ", ".join([*_PARTS, *Start.__members__, "unloaded", "untouched", "soon"])
                raise ValueError(f"'{word}' simplifies nothing; known: {known}")
        return found


AS_DRAWN: Final = Simplification()
