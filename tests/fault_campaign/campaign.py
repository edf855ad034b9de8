"""Results of a campaign, and the draw of its trials."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from fault_campaign.judging.black_box_check import FileCoverage
from fault_campaign.judging.violation import Violation
from fault_campaign.kinds.kind import Kind
from fault_campaign.trial import Result


@dataclass(frozen=True, slots=True)
class Entry:
    """One trial."""

    result: Result
    kept: FileCoverage | None = None  # record of the black box
    lost: tuple[Violation, ...] = ()  # what the record lacks

    @property
    def news(self) -> tuple[Violation, ...]:
        """Violations of the trial and of the record of the black box."""
        return self.result.violations + self.lost


def drawn(kinds: Sequence[Kind], count: int, seed: int) -> list[tuple[Kind, int]]:
    """Return `count` trials, all kinds equally often, in random order, each with its own seed."""
    dice = Random(seed)
    chosen: list[Kind] = []
    while len(chosen) < count:
        chosen += dice.sample(kinds, len(kinds))
    return [(kind, dice.randrange(1 << 31)) for kind in chosen[:count]]
