"""Which ends of processes, and which exceptions in their logs, are violations."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from faults.programs import Death
from faults.violation import Breach, Violation


@dataclass(frozen=True, slots=True)
class Ends:
    """What became of the robot's processes since the last look."""

    deaths: Sequence[Death] = ()
    stuck: Sequence[Violation] = ()
    exceptions: Sequence[str] = ()  # the last lines of tracebacks in the logs, after their labels

    def then(self, later: Ends) -> Ends:
        """All of both looks."""
        return Ends(
            [*self.deaths, *later.deaths],
            [*self.stuck, *later.stuck],
            [*self.exceptions, *later.exceptions],
        )


UNCLEAN: Final = Death("end of control", "exit code 1")  # a drive did not confirm its exit


def violations(
    ends: Ends, dies: Collection[str] = (), raises: str = "", *, unclean: bool = False
) -> list[Violation]:
    """What is wrong with it; `dies`, `raises` and `unclean` are those of a kind of fault."""
    found = list(ends.stuck)
    found += [
        Violation(Breach.DIED, f"{death.label}: {death.text}")
        for death in ends.deaths
        if death.label not in dies and not (unclean and death == UNCLEAN)
    ]
    dead = {death.label for death in ends.deaths}
    found += [
        Violation(Breach.DIED, f"{label} did not, though the fault should have ended it")
        for label in dies
        if label not in dead
    ]
    found += [
        Violation(Breach.TRACEBACK, text)
        for text in ends.exceptions
        if not (raises and re.search(raises, text))
    ]
    return found
