"""Judge the ends of processes, and the exceptions in their logs."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.programs import UnexpectedEnd


@dataclass(frozen=True, slots=True)
class Ends:
    """Ends and exceptions of the robot's processes since the last check."""

    deaths: Sequence[UnexpectedEnd] = ()
    stuck: Sequence[Violation] = ()
    exceptions: Sequence[str] = ()  # the last lines of tracebacks in the logs, after their labels

    def then(self, later: Ends) -> Ends:
        """Return the ends and exceptions of both."""
        return Ends(
            [*self.deaths, *later.deaths],
            [*self.stuck, *later.stuck],
            [*self.exceptions, *later.exceptions],
        )


UNCLEAN: Final = UnexpectedEnd("end of control", "exit code 1")  # a drive did not confirm its exit


def violations(
    ends: Ends, dies: Collection[str] = (), raises: str = "", *, unclean: bool = False
) -> list[Violation]:
    """Return the violations; `dies`, `raises` and `unclean` are those of a kind of fault."""
    found = list(ends.stuck)
    found += [
        Violation(ViolationType.DIED, f"{death.label}: {death.text}")
        for death in ends.deaths
        if death.label not in dies and not (unclean and death == UNCLEAN)
    ]
    dead = {death.label for death in ends.deaths}
    found += [
        Violation(ViolationType.DIED, f"{label} did not, though the fault should have ended it")
        for label in dies
        if label not in dead
    ]
    found += [
        Violation(ViolationType.TRACEBACK, text)
        for text in ends.exceptions
        if not (raises and re.search(raises, text))
    ]
    return found
