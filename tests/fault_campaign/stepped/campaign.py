"""Run many trials on copies of one simulated robot, on all processors.

A worker brings the robot up once. Each trial runs in a copy of that process (fork), so all trials
begin with the same robot.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fault_campaign.campaign import Entry
from fault_campaign.robot import Sabotage
from fault_campaign.simplification import AS_DRAWN, Simplification
from fault_campaign.stepped.prepared import Copies, Trials, unchanging
from fault_campaign.stepped.robot import SimulatedRobot
from fault_campaign.stepped.shrinking import shrunk
from humanoid_stepped.copies import LastingCopy


def campaign(
    trials: Trials,
    sabotage: Sabotage | None = None,
    workers: int | None = None,
    simpler: Simplification = AS_DRAWN,
) -> Iterator[Entry]:
    """Run trials, each a kind and a seed, of one robot; yield the results in this order.

    The simplest trial found replaces a trial with a violation, unless `simpler` is given.
    """
    count = min(workers or os.cpu_count() or 1, len(trials))
    serve = partial(_serve, trials, sabotage, simpler)
    crew = [LastingCopy(serve) for _ in range(count)]
    try:
        yield from _results(crew, len(trials))
    finally:
        for worker in crew:
            worker.end()


def _results(crew: Sequence[LastingCopy], count: int) -> Iterator[Entry]:
    found: dict[int, Entry] = {}
    begun = given = 0
    while given < count:
        for connection in wait([worker.connection for worker in crew]):
            assert isinstance(connection, Connection)
            answer = connection.recv()
            if answer is not None:
                index, entry = answer
                found[index] = entry
            if begun < count:
                connection.send(begun)
                begun += 1
        while given in found:
            yield found.pop(given)
            given += 1


def _serve(
    trials: Trials,
    sabotage: Sabotage | None,
    simpler: Simplification,
    asked: Iterator[int],
    connection: Connection[Any, Any],
) -> None:
    """Run a worker: it sends None once its robot is up, then results by index."""
    with TemporaryDirectory(prefix="hc_trials_") as folder:
        robot = SimulatedRobot(Path(folder), sabotage, trials[0][0].robot)
        unchanging()
        with Copies(robot, trials) as copies:
            connection.send(None)
            for index in asked:
                kind, seed = trials[index]
                entry = copies.run(index, simpler)
                if entry.news and simpler == AS_DRAWN:
                    entry = shrunk(entry, kind, seed, partial(copies.run, index))
                connection.send((index, entry))
