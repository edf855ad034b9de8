"""Simplify a trial with a violation before its report: fewer faults, a simpler mode, less load."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random
from typing import Final

from fault_campaign.campaign import Entry
from fault_campaign.kinds.kind import Kind
from fault_campaign.scenario import Start
from fault_campaign.simplification import AS_DRAWN, Simplification

# From the simplest mode to the one with the longest way.
_SIMPLER: Final = (
    Start.DAMPING, Start.ZERO_TORQUE, Start.STANDBY_FINISHED, Start.STANDBY_MOVING, Start.REMOTE,
    Start.LOCOMOTION, Start.TRAJECTORIES, Start.JOINT_STREAM,
)  # fmt: skip
Run = Callable[[Simplification], Entry]


def shrunk(entry: Entry, kind: Kind, seed: int, run: Run) -> Entry:
    """Return the simplest trial that violates one of the same demands.

    Args:
        entry: a trial with violations.
        run: runs the trial again.
    """
    if not entry.result.start:
        return entry  # the trial itself failed
    demands = {it.type for it in entry.news}
    simplest, best = AS_DRAWN, entry
    for group in _groups(kind, seed, Start(entry.result.start)):
        for step in group(simplest):
            tried = run(step)
            if demands & {it.type for it in tried.news}:
                simplest, best = step, tried
                break  # the other trials of this group are less simple
    return replace(best, simplification=str(simplest))


def _groups(
    kind: Kind, seed: int, start: Start
) -> list[Callable[[Simplification], Iterator[Simplification]]]:
    """Return functions that yield simpler trials, the simplest first."""
    drawn = kind if kind.drawn is None else kind.drawn(Random(seed))

    def parts(simplest: Simplification) -> Iterator[Simplification]:
        for number in range(len(drawn.parts)):
            yield replace(simplest, part=number)

    def starts(simplest: Simplification) -> Iterator[Simplification]:
        left = drawn if simplest.part is None else drawn.parts[simplest.part][0]
        for simpler in _SIMPLER[: _SIMPLER.index(start)]:
            if simpler in left.starts:
                yield replace(simplest, start=simpler)

    def flag(name: str) -> Callable[[Simplification], Iterator[Simplification]]:
        return lambda simplest: iter([simplest.with_flag(name)])

    return [parts, starts, flag("unloaded"), flag("untouched"), flag("soon")]
