"""Run many trials on copies of one simulated robot, on all processors.

A worker brings the robot up once. Every trial is a copy of the worker (fork), so it begins with
the very same robot, whatever the trials before it did.
"""

from __future__ import annotations

import gc
import os
import signal
import traceback
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from fault_campaign.campaign import Entry
from fault_campaign.kinds.kind import Kind
from fault_campaign.robot import Sabotage
from fault_campaign.simplification import AS_DRAWN, Simplification
from fault_campaign.stepped.robot import SimulatedRobot
from fault_campaign.stepped.shrinking import shrunk
from fault_campaign.stepped.trial import failed, run
from humanoid_stepped.copies import CopyError, in_copy

LONGEST: Final = 120  # [s] of processor time a trial may take: usual is one
Trials = Sequence[tuple[Kind, int]]


def campaign(
    trials: Trials,
    sabotage: Sabotage | None = None,
    workers: int | None = None,
    simpler: Simplification = AS_DRAWN,
) -> Iterator[Entry]:
    """Run the trials, each of a kind and a seed; yield them in their order.

    A trial with a violation is replaced by the simplest one found, unless it was made `simpler`.
    """
    count = min(workers or os.cpu_count() or 1, max(len(trials), 1))
    crew = [_Worker(trials, sabotage, simpler) for _ in range(count)]
    try:
        yield from _results(crew, len(trials))
    finally:
        for worker in crew:
            worker.end()


def _results(crew: Sequence[_Worker], count: int) -> Iterator[Entry]:
    found: dict[int, Entry] = {}
    begun = given = 0
    while given < count:
        for connection in wait([worker.connection for worker in crew]):
            worker = next(it for it in crew if it.connection is connection)
            answer = worker.connection.recv()
            if answer is not None:
                index, entry = answer
                found[index] = entry
            if begun < count:
                worker.connection.send(begun)
                begun += 1
        while given in found:
            yield found.pop(given)
            given += 1


@dataclass(slots=True)
class _Worker:
    """A process with a robot. It sends None once the robot is up, then results by index."""

    connection: Connection[Any, Any]
    pid: int

    def __init__(self, trials: Trials, sabotage: Sabotage | None, simpler: Simplification) -> None:
        self.connection, other = Pipe()
        self.pid = os.fork()
        if self.pid == 0:
            code = 1
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent ends it
                self.connection.close()
                _serve(other, trials, sabotage, simpler)
                code = 0
            finally:
                os._exit(code)
        other.close()

    def end(self) -> None:
        """End it, after a trial that it runs.

        Not by a signal: a test runner may have handlers, which a copy of it inherits. Nor by the
        end of the connection, of which later workers have a copy.
        """
        with suppress(OSError):  # it has ended already
            self.connection.send(None)
        os.waitpid(self.pid, 0)
        self.connection.close()


def _serve(
    connection: Connection[Any, Any],
    trials: Trials,
    sabotage: Sabotage | None,
    simpler: Simplification,
) -> None:
    with TemporaryDirectory(prefix="hc_trials_") as folder:
        robot = SimulatedRobot(Path(folder), sabotage)
        gc.collect()
        gc.freeze()  # a copy shares the memory of what is never collected
        connection.send(None)
        while True:
            index = connection.recv()
            if index is None:
                return
            kind, seed = trials[index]
            entry = copied(robot, kind, seed, simpler)
            if entry.news and simpler == AS_DRAWN:
                entry = shrunk(entry, kind, seed, partial(copied, robot))
            connection.send((index, entry))


def tried(robot: SimulatedRobot, kind: Kind, seed: int, simpler: Simplification) -> Entry:
    """Run a trial; one that raises is one that failed."""
    try:
        return run(robot, kind, seed, simpler)
    except Exception:
        return failed(kind, seed, f"the trial itself failed:\n{traceback.format_exc()}")


def copied(
    robot: SimulatedRobot, kind: Kind, seed: int, simpler: Simplification = AS_DRAWN
) -> Entry:
    """Run a trial on a copy of the robot."""
    try:
        return in_copy(lambda: tried(robot, kind, seed, simpler), LONGEST)
    except CopyError as error:
        return failed(kind, seed, f"the trial on a copy: {error}")
