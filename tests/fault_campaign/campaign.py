"""Run many trials on one robot; repeat those that a hold-up of the host spoilt."""

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

from fault_campaign.disturbing.stalls import Stalls
from fault_campaign.judging.archive import Claim
from fault_campaign.judging.black_box_check import Kept
from fault_campaign.judging.process_ends import violations as of_ends
from fault_campaign.judging.violation import Breach, Violation
from fault_campaign.kinds.kind import Kind
from fault_campaign.robot import NotHealthyError, Sabotage
from fault_campaign.trial import Result, Trial
from fault_campaign.wall_robot import WallRobot

ATTEMPTS: Final = 4  # at a trial that the host spoils; the last one counts whatever it does
# A robot that does this was not made to by a machine that was late while the fault lasted.
NEVER_EXCUSED: Final = frozenset(
    {
        Breach.NO_DATA,
        Breach.REFUTED,
        Breach.UP_AGAIN,
        Breach.REFUSED,
        Breach.NOT_WELL,
        Breach.DIED,
        Breach.TRACEBACK,
        Breach.DID_NOT_END,
    }
)


@dataclass(frozen=True, slots=True)
class Excuse:
    """Violations that don't count, since the host held the machine up meanwhile."""

    held_up: float  # [s] longest gap
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One trial that counts, and how it came about."""

    result: Result
    excused: tuple[Excuse, ...]  # attempts before it
    held_up: float  # [s] longest gap during the one that counts
    kept: Kept | None = None  # what the black box has of it
    lost: tuple[Violation, ...] = ()  # what it has not, though it must
    simplification: str = ""  # of the trial as its seed has drawn it

    @property
    def news(self) -> tuple[Violation, ...]:
        """Violations."""
        return self.result.violations + self.lost


@dataclass(frozen=True, slots=True)
class Due:
    """A trial to be done."""

    kind: Kind
    seed: int
    excused: tuple[Excuse, ...] = ()  # attempts so far


@dataclass(frozen=True, slots=True)
class Open:
    """A trial, and the claim for a file of it that may be settled later."""

    due: Due
    entry: Entry
    claim: Claim | None

    @property
    def settled(self) -> bool:
        """True once it is known whether the black box has it."""
        return self.claim is None or self.claim.settled

    def settle(self) -> Entry:
        """Return the trial with the violations of its files."""
        if self.claim is None:
            return self.entry
        lost = tuple(Violation(Breach.LOST, text) for text in self.claim.wrong)
        return replace(self.entry, kept=self.claim.found, lost=lost)


class Campaign:
    """A robot that is kept up over many trials, and brought up anew when it must be."""

    def __init__(self, say: Callable[[str], object], sabotage: Sabotage | None = None) -> None:
        self._say, self._sabotage = say, sabotage
        self.problems: list[Violation] = []  # of the robot's ends, which belong to no trial

    def run(self, trials: Sequence[tuple[Kind, int]]) -> Iterator[Entry]:
        """Do trials of kind and seed, one after another; each is yielded when it is settled."""
        waiting = deque(Due(kind, seed) for kind, seed in trials)
        while waiting:
            unsettled: deque[Open] = deque()
            with ExitStack() as cleanup:
                folder = cleanup.enter_context(TemporaryDirectory(prefix="hc_faults_"))
                stalls = cleanup.enter_context(Stalls())
                robot = WallRobot(Path(folder), self._sabotage, waiting[0].kind.robot)
                cleanup.callback(self._ended, robot)
                cleanup.enter_context(robot)
                yield from self._with(robot, stalls, waiting, unsettled)
            for it in unsettled:  # its last files were read meanwhile
                yield from self.counted_of(it, waiting)

    def _ended(self, robot: WallRobot) -> None:
        """Its processes have ended."""
        self.problems += of_ends(robot.ends())

    def _with(
        self,
        robot: WallRobot,
        stalls: Stalls,
        waiting: deque[Due],
        unsettled: deque[Open],
    ) -> Iterator[Entry]:
        """Trials on one robot, as long as it can be brought back to health."""
        while waiting:
            due = waiting.popleft()
            begin = time.monotonic()
            try:
                result = Trial(robot, due.kind, due.seed).run()
            except NotHealthyError as error:
                after = f"{due.kind.name}, {due.seed}"
                self._say(f"the robot is brought up anew after {after}: {error}")
                failed = _failed(due, begin, str(error), of_ends(robot.ends()))
                unsettled.append(Open(due, failed, None))
                return
            held_up = max(stalls.worst(result.begin, result.end), result.held_up)
            expected = result.expected
            claim = None if expected is None else robot.archive.claim(expected)
            unsettled.append(Open(due, Entry(result, due.excused, held_up), claim))
            robot.archive.look()
            while unsettled and unsettled[0].settled:
                yield from self.counted_of(unsettled.popleft(), waiting)

    def counted_of(self, it: Open, waiting: deque[Due]) -> Iterator[Entry]:
        """Return the entry that counts: none if a hold-up of the host may be the reason."""
        entry, due = it.settle(), it.due
        if excusable(entry, starves=due.kind.starves) and len(due.excused) + 1 < ATTEMPTS:
            self._say(f"  held up for {entry.held_up * 1e3:.0f} ms: again ({_text_of(entry.news)})")
            excuse = Excuse(entry.held_up, entry.news)
            waiting.append(replace(due, excused=(*due.excused, excuse)))
        else:
            yield entry


def excusable(entry: Entry, *, starves: bool) -> bool:
    """Return True if a hold-up of the host may be the reason of all its violations."""
    own = starves and entry.result.verdict is not None
    late = entry.held_up > 0.0 and not own
    return late and bool(entry.news) and not {it.breach for it in entry.news} & NEVER_EXCUSED


def _text_of(violations: Sequence[Violation]) -> str:
    return "; ".join(map(str, violations))


def _failed(due: Due, begin: float, error: str, ends: Sequence[Violation]) -> Entry:
    """Return a trial after which the robot could not even be restarted."""
    wrong = (Violation(Breach.NOT_WELL, error), *ends)
    result = Result.failed(due.kind, due.seed, wrong, begin, time.monotonic())
    return Entry(result, due.excused, 0.0)


def drawn(kinds: Sequence[Kind], count: int, seed: int) -> list[tuple[Kind, int]]:
    """`count` trials: every kind about as often, in random order, each with a seed of its own."""
    dice = Random(seed)
    chosen: list[Kind] = []
    while len(chosen) < count:
        chosen += dice.sample(kinds, len(kinds))
    return [(kind, dice.randrange(1 << 31)) for kind in chosen[:count]]
