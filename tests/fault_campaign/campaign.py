"""Run many trials on one robot; repeat those that a hold-up of the host has disturbed."""

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
from fault_campaign.judging.black_box_check import FileCoverage
from fault_campaign.judging.process_ends import violations as of_ends
from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.kinds.kind import Kind
from fault_campaign.robot import NotHealthyError, Sabotage
from fault_campaign.trial import Result, Trial
from fault_campaign.wall_robot import WallRobot

ATTEMPTS: Final = 4  # at a trial that the host disturbs; the last attempt counts in any case
# A machine that was late while the fault lasted cannot be the reason for these.
NEVER_EXCUSED: Final = frozenset(
    {
        ViolationType.NO_DATA,
        ViolationType.REFUTED,
        ViolationType.UP_AGAIN,
        ViolationType.REFUSED,
        ViolationType.NOT_WELL,
        ViolationType.DIED,
        ViolationType.TRACEBACK,
        ViolationType.DID_NOT_END,
    }
)


@dataclass(frozen=True, slots=True)
class ExcusedAttempt:
    """Violations that do not count, since the host held the machine up during the trial."""

    held_up: float  # [s] longest gap
    violations: tuple[Violation, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """One trial that counts, with the attempts before it."""

    result: Result
    excused: tuple[ExcusedAttempt, ...]  # attempts before it
    held_up: float  # [s] longest gap during the trial that counts
    kept: FileCoverage | None = None  # record of the black box
    lost: tuple[Violation, ...] = ()  # what the record lacks
    simplification: str = ""  # what was left out of the trial that the seed has drawn

    @property
    def news(self) -> tuple[Violation, ...]:
        """Violations of the trial and of the record of the black box."""
        return self.result.violations + self.lost


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """A trial to be done."""

    kind: Kind
    seed: int
    excused: tuple[ExcusedAttempt, ...] = ()  # attempts so far


@dataclass(frozen=True, slots=True)
class Open:
    """A trial, and its claim for a file of the black box, which may be settled later."""

    due: PlannedTrial
    entry: Entry
    claim: Claim | None

    @property
    def settled(self) -> bool:
        """True once it is decided whether the black box has recorded the trial."""
        return self.claim is None or self.claim.settled

    def settle(self) -> Entry:
        """Return the trial with the violations found in its files."""
        if self.claim is None:
            return self.entry
        lost = tuple(Violation(ViolationType.LOST, text) for text in self.claim.wrong)
        return replace(self.entry, kept=self.claim.found, lost=lost)


class Campaign:
    """Runs trials on one robot, and brings up a new one when that fails."""

    def __init__(self, say: Callable[[str], object], sabotage: Sabotage | None = None) -> None:
        self._say, self._sabotage = say, sabotage
        self.problems: list[Violation] = []  # of the ends of robots, which belong to no trial

    def run(self, trials: Sequence[tuple[Kind, int]]) -> Iterator[Entry]:
        """Run trials of kind and seed one after another; yield each when it is settled."""
        waiting = deque(PlannedTrial(kind, seed) for kind, seed in trials)
        while waiting:
            unsettled: deque[Open] = deque()
            with ExitStack() as cleanup:
                folder = cleanup.enter_context(TemporaryDirectory(prefix="hc_faults_"))
                stalls = cleanup.enter_context(Stalls())
                robot = WallRobot(Path(folder), self._sabotage, waiting[0].kind.robot)
                cleanup.callback(self._ended, robot)
                cleanup.enter_context(robot)
                yield from self._with(robot, stalls, waiting, unsettled)
            for it in unsettled:  # the last files of the robot have been read
                yield from self.counted_of(it, waiting)

    def _ended(self, robot: WallRobot) -> None:
        """Note the violations of a robot whose processes have ended."""
        self.problems += of_ends(robot.ends())

    def _with(
        self,
        robot: WallRobot,
        stalls: Stalls,
        waiting: deque[PlannedTrial],
        unsettled: deque[Open],
    ) -> Iterator[Entry]:
        """Run trials on one robot as long as it can be brought back to health."""
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

    def counted_of(self, it: Open, waiting: deque[PlannedTrial]) -> Iterator[Entry]:
        """Yield the entry if it counts; repeat the trial if a hold-up may be the reason."""
        entry, due = it.settle(), it.due
        if excusable(entry, starves=due.kind.starves) and len(due.excused) + 1 < ATTEMPTS:
            self._say(f"  held up for {entry.held_up * 1e3:.0f} ms: again ({_text_of(entry.news)})")
            excuse = ExcusedAttempt(entry.held_up, entry.news)
            waiting.append(replace(due, excused=(*due.excused, excuse)))
        else:
            yield entry


def excusable(entry: Entry, *, starves: bool) -> bool:
    """Return True if a hold-up of the host may be the reason of all violations of an entry."""
    own = starves and entry.result.verdict is not None
    late = entry.held_up > 0.0 and not own
    return late and bool(entry.news) and not {it.type for it in entry.news} & NEVER_EXCUSED


def _text_of(violations: Sequence[Violation]) -> str:
    return "; ".join(map(str, violations))


def _failed(due: PlannedTrial, begin: float, error: str, ends: Sequence[Violation]) -> Entry:
    """Return a trial after which the robot could not even be restarted."""
    wrong = (Violation(ViolationType.NOT_WELL, error), *ends)
    result = Result.failed(due.kind, due.seed, wrong, begin, time.monotonic())
    return Entry(result, due.excused, 0.0)


def drawn(kinds: Sequence[Kind], count: int, seed: int) -> list[tuple[Kind, int]]:
    """Return `count` trials, all kinds equally often, in random order, each with its own seed."""
    dice = Random(seed)
    chosen: list[Kind] = []
    while len(chosen) < count:
        chosen += dice.sample(kinds, len(kinds))
    return [(kind, dice.randrange(1 << 31)) for kind in chosen[:count]]
