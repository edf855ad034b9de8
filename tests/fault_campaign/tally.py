"""Sum of many trials: violations, excuses, and the statistical bound."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

from fault_campaign.campaign import Entry
from fault_campaign.judging.violation import Violation

# Limit of the excuses of a kind: two, or this share of its trials in large campaigns.
EXCUSES: Final = 2
EXCUSED_SHARE: Final = 0.2
_CONFIDENCE: Final = 0.95


@dataclass(frozen=True, slots=True)
class Tally:
    """Sums of a campaign."""

    trials: int
    violated: int  # trials
    excused: dict[str, int]  # attempts that do not count, by kind, without zeros
    excused_too_often: tuple[str, ...]  # kinds
    clean: int  # trials that count, without a violation
    clean_held_up: int  # of these: the host also held the machine up
    fewest: int  # trials of the kind that has the fewest
    problems: tuple[Violation, ...]  # violations of the robot's end

    @classmethod
    def of(cls, entries: Sequence[Entry], problems: Sequence[Violation] = ()) -> Self:
        """Return the sums of these trials."""
        count = Counter(entry.result.kind for entry in entries)
        excused = Counter[str]()
        for entry in entries:
            excused[entry.result.kind] += len(entry.excused)
        clean = [entry for entry in entries if not entry.news]
        return cls(
            trials=len(entries),
            violated=len(entries) - len(clean),
            excused={kind: number for kind, number in excused.items() if number},
            excused_too_often=tuple(
                kind
                for kind, number in excused.items()
                if number > max(EXCUSES, EXCUSED_SHARE * count[kind])
            ),
            clean=len(clean),
            clean_held_up=sum(entry.held_up > 0.0 for entry in clean),
            fewest=min(count.values(), default=0),
            problems=tuple(problems),
        )

    @property
    def failed(self) -> bool:
        """Return True if there is a violation, or no trial."""
        return bool(self.violated or self.excused_too_often or self.problems or not self.trials)

    def lines(self) -> list[str]:
        """Return the sums as text."""
        held = self.clean_held_up / max(self.clean, 1)
        found = [
            f"{self.violated} of {self.trials} trials violated a demand",
            f"{sum(self.excused.values())} attempts excused by hold-ups of this machine; "
            f"P(hold-up | no violation) = {self.clean_held_up}/{self.clean} = {held:.1%}",
        ]
        found += [f"  excused {number} times: {kind}" for kind, number in self.excused.items()]
        found += [f"FAILED: '{kind}' was excused too often" for kind in self.excused_too_often]
        found += [f"FAILED: at the robot's end: {problem}" for problem in self.problems]
        if not self.violated and self.trials:
            found.append(
                f"0 of {self.trials} at 95 %, if this seed was never run before: less than "
                f"{at_most(self.trials):.2%} of this mixture of faults; of one kind, by its "
                f"{self.fewest} trials, less than {at_most(self.fewest):.0%}"
            )
        return found


def at_most(trials: int) -> float:
    """Return the share of violations at which `trials` show none with a probability of 5 %."""
    return float(1.0 - (1.0 - _CONFIDENCE) ** (1.0 / trials))
