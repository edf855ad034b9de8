"""Run many trials on copies of simulated robots, on all processors.

A worker brings the robot up once with each kind of CAN adapter. Each trial runs in a copy of that
process (fork), so all trials begin with the same robot. A prepared robot, too, is made by one
worker only, if possible.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fault_campaign.campaign import Entry
from fault_campaign.kinds.kind import Kind
from fault_campaign.robot import Robot, Sabotage
from fault_campaign.stepped.prepared import Copies, Prepared, Trials, adapter_of
from humanoid_stepped.copies import LastingCopy


def campaign(
    trials: Trials,
    sabotage: Sabotage | None = None,
    workers: int | None = None,
) -> Iterator[Entry]:
    """Run trials, each a kind and a seed, of one robot; yield the results in this order."""
    count = min(workers or os.cpu_count() or 1, len(trials))
    serve = partial(_serve, trials, sabotage)
    wanted = [_prepared_robot(kind, seed) for kind, seed in trials]
    crew = [LastingCopy(serve) for _ in range(count)]
    try:
        yield from _results(crew, wanted)
    finally:
        for worker in crew:
            worker.end()


PreparedRobot = tuple[str, Prepared] | None  # with these CAN adapters; None: the one in DAMPING


def _prepared_robot(kind: Kind, seed: int) -> PreparedRobot:
    prepared = Prepared.of(kind, seed)
    return None if prepared is None else (adapter_of(kind, seed), prepared)


def _results(crew: Sequence[LastingCopy], wanted: Sequence[PreparedRobot]) -> Iterator[Entry]:
    """Yield the results in order; `wanted` has the robot of each trial."""
    found: dict[int, Entry] = {}
    waiting = Waiting(wanted)
    given = 0
    while given < len(wanted):
        for connection in wait([worker.connection for worker in crew]):
            assert isinstance(connection, Connection)
            answer = connection.recv()
            if answer is not None:
                index, entry = answer
                found[index] = entry
            if (following := waiting.take(connection)) is not None:
                connection.send(following)
        while given in found:
            yield found.pop(given)
            given += 1


class Waiting:
    """The trials that no worker has begun, by index."""

    def __init__(self, wanted: Sequence[PreparedRobot]) -> None:
        self._left = deque(range(len(wanted)))
        self._wanted = wanted
        self._makers: dict[PreparedRobot, Connection[Any, Any]] = {}  # the worker of a robot

    def take(self, worker: Connection[Any, Any]) -> int | None:
        """Return the trial that `worker` runs next, None if none is left.

        It is the first one whose robot no other worker prepares; if there is none, the first one.
        """
        if not self._left:
            return None
        free = (i for i in self._left if self._maker(i) in (None, worker))
        index = next(free, self._left[0])
        self._left.remove(index)
        if (robot := self._wanted[index]) is not None:
            self._makers.setdefault(robot, worker)
        return index

    def _maker(self, index: int) -> Connection[Any, Any] | None:
        robot = self._wanted[index]
        return None if robot is None else self._makers.get(robot)


def _serve(
    trials: Trials,
    sabotage: Sabotage | None,
    asked: Iterator[int],
    connection: Connection[Any, Any],
) -> None:
    """Run a worker: it sends None at its begin, then results by index."""
    with TemporaryDirectory(prefix="hc_trials_") as folder:
        joints = trials[0][0].robot

        def make(adapter: str) -> Robot:
            return Robot(Path(folder), sabotage, joints, adapter)

        with Copies(make, trials) as copies:
            connection.send(None)
            for index in asked:
                connection.send((index, copies.run(index)))
