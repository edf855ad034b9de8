"""Trials on copies of a prepared robot, which is already in the mode of the trial.

The switches from DAMPING to a stiff mode take longer than the fault. So a robot makes them once,
and each trial of that mode begins with a copy of this robot. There are several such robots with
each kind of CAN adapter. The seed of the trial selects one, and decides on load, pushes, motion,
time of the fault and order of threads.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection
from random import Random
from typing import Any, Final, Self

from fault_campaign.campaign import Entry
from fault_campaign.kinds.kind import Kind
from fault_campaign.robot import SLCAN, SOCKETCAN, Robot
from fault_campaign.robot_joints import read_descriptions
from fault_campaign.scenario import Start
from fault_campaign.stepped.trial import failed, run
from fault_campaign.trial import DrawnTrial
from humanoid_stepped.copies import CopyError, LastingCopy, in_copy

LONGEST: Final = 120  # [s] limit of the processor time of a trial: half a second is usual
LONG_WAYS: Final = (
    Start.STANDBY_FINISHED, Start.REMOTE, Start.LOCOMOTION, Start.TRAJECTORIES, Start.JOINT_STREAM,
)  # fmt: skip
WHOLE_WAY: Final = 0.2  # share of the trials in these modes that begin in DAMPING
ROBOTS: Final = 2  # robots prepared for each of these modes, with each kind of adapter
ADAPTERS: Final = (SOCKETCAN, SLCAN)
MakeRobot = Callable[[str], Robot]  # with these CAN adapters, in DAMPING
Trials = Sequence[tuple[Kind, int]]


def adapter_of(kind: Kind, seed: int) -> str:
    """Return the kind of CAN adapter of a trial."""
    drawn = DrawnTrial.of(kind, seed).kind
    return drawn.adapter or Random(f"{seed} adapter").choice(ADAPTERS)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A robot in a mode; `number` is the seed of its way there."""

    start: Start
    number: int

    @classmethod
    def of(cls, kind: Kind, seed: int) -> Self | None:
        """Return the prepared robot of a trial; None: the robot in DAMPING."""
        start = DrawnTrial.of(kind, seed).scenario.start
        dice = Random(f"{seed} way")
        if start not in LONG_WAYS or dice.random() < WHOLE_WAY:
            return None
        return cls(start, dice.randrange(ROBOTS))

    def prepare(self, robot: Robot) -> None:
        """Lead `robot` from DAMPING to the mode.

        If it does not reach the mode, the trial begins with its present state and judges that.
        """
        robot.prepare(self.start, f"{self.start.name} {self.number}")


class Copies:
    """Runs each trial on a copy of a robot, so that trials do not change each other.

    Args:
        make: makes a robot in a process of its own, when the first trial needs it.
        trials: of kind and seed, all of one robot; the index selects the one to run.
    """

    def __init__(self, make: MakeRobot, trials: Trials) -> None:
        self._make, self._trials = make, trials
        self._robots: dict[str, LastingCopy] = {}  # by adapter
        read_descriptions(trials[0][0].robot)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the robots."""
        for robot in self._robots.values():
            robot.end()
        self._robots.clear()

    def run(self, index: int) -> Entry:
        """Run a trial."""
        kind, seed = self._trials[index]
        adapter = adapter_of(kind, seed)
        if adapter not in self._robots:
            self._robots[adapter] = LastingCopy(partial(self._serve, adapter))
        entry = _asked(self._robots[adapter], index)
        if entry is None:
            self._robots.pop(adapter).end()
            return failed(kind, seed, f"no robot is up with the CAN interface {adapter}")
        return entry

    def _serve(
        self,
        adapter: str,
        asked: Iterator[int],
        connection: Connection[Any, Any],
    ) -> None:
        robot = self._make(adapter)
        with _PreparedCopies(robot, self._trials) as copies:
            for index in asked:
                connection.send(copies.run(index))


class _PreparedCopies:
    """Runs trials on copies of one robot in DAMPING, which is not changed, or prepared ones."""

    def __init__(self, robot: Robot, trials: Trials) -> None:
        self._robot, self._trials = robot, trials
        self._prepared: dict[Prepared, LastingCopy] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End the copies."""
        for copy in self._prepared.values():
            copy.end()
        self._prepared.clear()

    def run(self, index: int) -> Entry:
        """Run a trial."""
        kind, seed = self._trials[index]
        wanted = Prepared.of(kind, seed)
        if wanted is None:
            return _copied(self._robot, kind, seed)
        if wanted not in self._prepared:
            self._prepared[wanted] = LastingCopy(partial(self._serve, wanted))
        entry = _asked(self._prepared[wanted], index)
        if entry is None:
            self._prepared.pop(wanted).end()
            return failed(kind, seed, f"no robot could be prepared: {wanted}")
        return entry

    def _serve(
        self,
        wanted: Prepared,
        asked: Iterator[int],
        connection: Connection[Any, Any],
    ) -> None:
        wanted.prepare(self._robot)
        for index in asked:
            kind, seed = self._trials[index]
            connection.send(_copied(self._robot, kind, seed))


def _asked(copy: LastingCopy, index: int) -> Entry | None:
    """Return the result of a trial; None if the copy has ended."""
    try:
        copy.connection.send(index)
        entry: Entry = copy.connection.recv()
    except (EOFError, OSError):
        return None
    return entry


def tried(robot: Robot, kind: Kind, seed: int) -> Entry:
    """Run a trial; an exception makes it a failed one."""
    try:
        return run(robot, kind, seed)
    except Exception:
        return failed(kind, seed, f"the trial itself failed:\n{traceback.format_exc()}")


def _copied(robot: Robot, kind: Kind, seed: int) -> Entry:
    try:
        return in_copy(lambda: tried(robot, kind, seed), LONGEST)
    except CopyError as error:
        return failed(kind, seed, f"the trial on a copy: {error}")
