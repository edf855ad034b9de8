"""Many trials on one robot: which ones, and again where the host spoilt one."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

from faults.archive import Claim
from faults.judge import described_limits
from faults.kept import Kept
from faults.kind import Kind
from faults.robot import NotHealthyError, Robot
from faults.stalls import Stalls
from faults.trial import Result, Trial

ATTEMPTS: Final = 12  # at a trial that the host spoils; on a bad day it does so to every other one


@dataclass(frozen=True, slots=True)
class Entry:
    """One trial that counts, and how it came about."""

    result: Result
    spoilt: int  # attempts before it in which the host held the machine up
    held_up: float  # [s] longest gap during the one that counts
    kept: Kept | None = None  # what the black box has of it
    lost: tuple[str, ...] = ()  # what it has not, though it must

    @property
    def news(self) -> tuple[str, ...]:
        """Violations that nobody knew of."""
        return self.result.news + self.lost


@dataclass(frozen=True, slots=True)
class Due:
    """A trial to be done."""

    kind: Kind
    seed: int
    spoilt: int = 0  # attempts so far


@dataclass(frozen=True, slots=True)
class Open:
    """A trial, and the claim for a file of it that may be settled later."""

    due: Due
    entry: Entry
    claim: Claim | None

    @property
    def settled(self) -> bool:
        """Whether it is known what the black box has of it."""
        return self.claim is None or self.claim.settled

    def settle(self) -> Entry:
        """The trial, with that."""
        if self.claim is None:
            return self.entry
        return replace(self.entry, kept=self.claim.found, lost=tuple(self.claim.wrong))


class Campaign:
    """A robot that is kept up over many trials, and brought up anew when it must be."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._limits = described_limits()

    def run(self, trials: Sequence[tuple[Kind, int]]) -> Iterator[Entry]:
        """Do trials of kind and seed, one after another; each is told when it is settled."""
        waiting = deque(Due(kind, seed) for kind, seed in trials)
        while waiting:
            unsettled: deque[Open] = deque()
            with ExitStack() as cleanup:
                folder = cleanup.enter_context(TemporaryDirectory(prefix="hc_faults_"))
                stalls = cleanup.enter_context(Stalls())
                robot = cleanup.enter_context(Robot(Path(folder)))
                yield from self._with(robot, stalls, waiting, unsettled)
            for it in unsettled:  # its last files were read meanwhile
                yield from self.counted_of(it, waiting)

    def _with(
        self,
        robot: Robot,
        stalls: Stalls,
        waiting: deque[Due],
        unsettled: deque[Open],
    ) -> Iterator[Entry]:
        """Trials on one robot, as long as it can be brought back to health."""
        while waiting:
            due = waiting.popleft()
            begin = time.monotonic()
            try:
                result = Trial(robot, due.kind, due.seed, self._limits).run()
            except NotHealthyError as error:
                after = f"{due.kind.name}, {due.seed}"
                self._say(f"the robot is brought up anew after {after}: {error}")
                failed = _failed(due, begin, str(error), stalls.worst(begin, time.monotonic()))
                unsettled.append(Open(due, failed, None))
                return
            held_up = max(stalls.worst(result.begin, result.end), result.held_up)
            expected = result.expected
            claim = None if expected is None else robot.archive.claim(expected)
            unsettled.append(Open(due, Entry(result, due.spoilt, held_up), claim))
            robot.archive.look()
            while unsettled and unsettled[0].settled:
                yield from self.counted_of(unsettled.popleft(), waiting)

    def counted_of(self, it: Open, waiting: deque[Due]) -> Iterator[Entry]:
        """What counts of it: nothing, where the host may be the reason; it is done again then."""
        entry, due = it.settle(), it.due
        spoilt = entry.spoilt + 1
        own = due.kind.starves and entry.result.verdict is not None
        if entry.news and entry.held_up and not own and spoilt < ATTEMPTS:
            self._say(f"  held up for {entry.held_up * 1e3:.0f} ms: again ({entry.news})")
            waiting.append(replace(due, spoilt=spoilt))
        else:
            yield entry


def _failed(due: Due, begin: float, error: str, held_up: float) -> Entry:
    """A trial after which the robot could not even be restarted."""
    wrong, end = (f"not well again: {error}",), time.monotonic()
    result = Result(due.seed, due.kind.name, "", "", None, wrong, begin, end, None, 0.0)
    return Entry(result, due.spoilt, held_up)


def drawn(kinds: Sequence[Kind], count: int, seed: int) -> list[tuple[Kind, int]]:
    """`count` trials: every kind about as often, in random order, each with a seed of its own."""
    dice = Random(seed)
    chosen: list[Kind] = []
    while len(chosen) < count:
        chosen += dice.sample(kinds, len(kinds))
    return [(kind, dice.randrange(1 << 31)) for kind in chosen[:count]]
