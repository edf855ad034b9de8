"""Many trials on one robot: which ones, and again where the host spoilt one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from faults.judge import described_limits
from faults.kind import Kind
from faults.robot import NotHealthyError, Robot
from faults.stalls import Stalls
from faults.trial import Result, Trial

ATTEMPTS: Final = 4  # at a trial that the host spoils


@dataclass(frozen=True, slots=True)
class Entry:
    """One trial that counts, and how it came about."""

    result: Result
    spoilt: int  # attempts before it in which the host held the machine up
    held_up: float  # [s] longest gap during the one that counts


class Campaign:
    """A robot that is kept up over many trials, and brought up anew when it must be."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._limits = described_limits()

    def run(self, trials: Sequence[tuple[Kind, int]]) -> Iterator[Entry]:
        """Do trials of kind and seed, one after another."""
        waiting = list(trials)
        while waiting:
            with ExitStack() as cleanup:
                folder = cleanup.enter_context(TemporaryDirectory(prefix="hc_faults_"))
                stalls = cleanup.enter_context(Stalls())
                robot = cleanup.enter_context(Robot(Path(folder)))
                while waiting:
                    kind, seed = waiting.pop(0)
                    try:
                        yield self._counted(robot, stalls, kind, seed)
                    except NotHealthyError as error:
                        self._say(
                            f"the robot is brought up anew after {kind.name}, {seed}: {error}"
                        )
                        break

    def _counted(self, robot: Robot, stalls: Stalls, kind: Kind, seed: int) -> Entry:
        for spoilt in range(ATTEMPTS):
            result = Trial(robot, kind, seed, self._limits).run()
            held_up = stalls.worst(result.begin, result.end)
            if not (result.news and held_up) or kind.starves or spoilt + 1 == ATTEMPTS:
                break
            self._say(f"  held up for {held_up * 1e3:.0f} ms: again ({result.violations})")
        return Entry(result, spoilt, held_up)


def drawn(kinds: Sequence[Kind], count: int, seed: int) -> list[tuple[Kind, int]]:
    """`count` trials: every kind about as often, in random order, each with a seed of its own."""
    dice = Random(seed)
    chosen: list[Kind] = []
    while len(chosen) < count:
        chosen += dice.sample(kinds, len(kinds))
    return [(kind, dice.randrange(1 << 31)) for kind in chosen[:count]]
