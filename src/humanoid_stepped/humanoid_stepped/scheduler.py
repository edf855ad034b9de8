"""The simulated clock: it runs the tasks that are due, in the order that a seed decides.

A task is what a thread is on the robot: a function that runs until it waits. It is a greenlet, so
product code waits anywhere in its call stack without a thread. Time stands still while a task runs.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from itertools import count
from random import Random
from threading import Event
from typing import Final, Protocol

from greenlet import getcurrent, greenlet

NEVER: Final = 1 << 62  # [ns]
NANO: Final = 1_000_000_000  # [ns] in a second
LATENCY: Final = 60_000  # [ns] at most from the time a task is due until it runs
MOST_TURNS: Final = 100_000  # of all tasks at one time: more are an endless loop


class World(Protocol):
    """The part that runs without a task: the virtual robot."""

    @property
    def next_event(self) -> int:
        """Time [ns] up to which `advance` may be called; beyond it, it would be late."""

    def advance(self, end: int) -> int:
        """Run events up to `end` [ns], or to one that may concern a task; return the time.

        Most events concern no task: a stop at each would take more time than the event.
        """


class EndlessLoopError(Exception):
    """Tasks run again and again while no time passes."""


class Flag(Event):
    """An Event of tasks, which run one at a time: without the locks that threads need.

    It is set and cleared some thousand times a simulated second, and looked at ten times as often.
    """

    def __init__(self) -> None:
        super().__init__()
        self.raised = False  # whether it is set

    def is_set(self) -> bool:
        """See Event."""
        return self.raised

    def set(self) -> None:
        """See Event."""
        self.raised = True

    def clear(self) -> None:
        """See Event."""
        self.raised = False

    def wait(self, timeout: float | None = None) -> bool:
        """Raise RuntimeError: a task waits by the machine."""
        raise RuntimeError("a task waits by `Machine.wait`: here the only thread would stand still")


_NO_FLAG: Final = Flag()  # it is never set


class Process:
    """The tasks of one process: they are stopped and ended together."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.held_until = 0  # [ns]; as after SIGSTOP
        self.killed = False  # as by kill -9: no task runs again, nothing is unwound
        self.ended = False  # by itself

    @property
    def gone(self) -> bool:
        """Return whether it does not exist any more."""
        return self.killed or self.ended


class Task:
    """One thread of a process. See Thread of `humanoid_control_common.machine`."""

    __slots__ = (
        "_run_function", "_scheduler", "due", "ended", "error", "event", "flag", "greenlet",
        "held_until", "name", "process",
    )  # fmt: skip

    def __init__(
        self, scheduler: Scheduler, process: Process, name: str, run: Callable[[], None]
    ) -> None:
        self.process, self.name = process, name
        self.error: BaseException | None = None  # that ended it
        self.due = scheduler.now  # [ns]
        # What ends its wait early: a flag or another event.
        self.flag = _NO_FLAG
        self.event: Event | None = None
        self.held_until = 0  # [ns]; as a thread that gets no processor
        self.ended = Flag()
        self._scheduler, self._run_function = scheduler, run
        self.greenlet = greenlet(self._run, scheduler.hub)

    def is_alive(self) -> bool:
        """Return whether the task still runs."""
        return not (self.ended.is_set() or self.process.killed)

    def join(self, timeout: float | None = None) -> None:
        """Return when the task has ended, or after `timeout` [s]."""
        self._scheduler.wait(self.ended, timeout)

    def _run(self) -> None:
        try:
            self._run_function()
        except BaseException as error:  # a thread ends with it, too
            self.error = error
        finally:
            self.ended.set()


class _StandsStill:
    """A World in which nothing happens."""

    next_event = NEVER

    def advance(self, end: int) -> int:
        """See World."""
        return end


class Scheduler:
    """Time [ns] and the tasks on it.

    Args:
        random: draws every order and every latency.
        world: moves along.
    """

    def __init__(self, random: Random, world: World) -> None:
        self.now = 0
        self.random, self.world = random, world
        self.hub = getcurrent()
        self.tasks: list[Task] = []
        self.failed: list[Task] = []  # ended by an error
        self.latency = LATENCY  # [ns] at most
        self.system_offset = 0  # [ns] by which the system's clock has been set
        self._calls: list[tuple[int, int, Callable[[], None]]] = []
        self._numbers = count()
        self.current: Task | None = None  # the task that runs; None between two tasks
        self._turns = 0  # since time has passed

    # For tasks.

    def wait(self, event: Event | None, seconds: float | None) -> bool:
        """Let the present task wait for `seconds`, or until `event` is set; return whether it is.

        None waits without end. Between two tasks, this lets time pass.
        """
        if event is not None and event.is_set():
            return True
        if self.current is None:
            return self._wait_here(event, seconds)
        if seconds is None or seconds == math.inf:
            due = NEVER
        else:
            due = self.now + max(math.ceil(seconds * NANO), 0)
            if self.latency:
                due += int(self.random.random() * self.latency)
        task = self.current
        task.due = due
        if isinstance(event, Flag):
            task.flag = event
        else:
            task.event = event
        self.hub.switch()
        return event is not None and event.is_set()

    def start(self, process: Process, name: str, run: Callable[[], None]) -> Task:
        """Return a new task of `process`."""
        task = Task(self, process, name, run)
        self.tasks.append(task)
        return task

    def call_at(self, time: int, function: Callable[[], None]) -> None:
        """Call a short function at `time` [ns], between two tasks."""
        heapq.heappush(self._calls, (max(time, self.now), next(self._numbers), function))

    # For the test.

    def run_for(self, seconds: float) -> None:
        """Let time pass."""
        self.run_until(self.now + round(seconds * NANO))

    def run_until(self, end: int, done: Callable[[], object] = lambda: False) -> bool:
        """Let time pass until `end` [ns], or until `done`; return whether it was done.

        `done` is checked after each moment at which something happened.

        Raises EndlessLoopError.
        """
        world, calls = self.world, self._calls
        while True:
            due = self._run_ready()
            if done():
                return True
            if calls:
                due = min(due, calls[0][0])
            if due > end and self.now >= end:
                return False
            self._advance(max(min(due, world.next_event, end), self.now))

    def run_alone(
        self, process: str, leap: float, done: Callable[[], object], timeout: float
    ) -> bool:
        """Run only the tasks of the processes of this name, until `done`; return its result.

        World and other tasks are stopped from then on. Time advances in large steps [s], so events
        within a step are late. After each step the process runs for a tenth of it. `timeout` is in
        [s], too.
        """
        for task in self.tasks:
            if task.process.name != process:
                task.held_until = NEVER
        self.world = _StandsStill()
        end = self.now + round(timeout * NANO)
        while not done():
            if self.now > end:
                return False
            self.now += round(leap * NANO)
            self.run_for(leap / 10)
        return True

    def _wait_here(self, event: Event | None, seconds: float | None) -> bool:
        end = NEVER if seconds is None else self.now + round(seconds * NANO)
        return self.run_until(end, (lambda: False) if event is None else event.is_set)

    def _run_ready(self) -> int:
        """Run calls and tasks that are due now; return when the next task is due [ns]."""
        calls, now = self._calls, self.now
        while True:
            while calls and calls[0][0] <= now:
                heapq.heappop(calls)[2]()
            ready, due = self._ready(now)
            if not ready:
                return due
            self._turn(ready[0] if len(ready) == 1 else self.random.choice(ready))

    def _ready(self, now: int) -> tuple[list[Task], int]:
        """Return the tasks that are due `now`, and when the next one is due [ns].

        It runs some thousand times a simulated second: without a call for each task.
        """
        ready, due = [], NEVER
        for task in self.tasks:
            turn = task.due
            if turn > now and (
                task.flag.raised or ((event := task.event) is not None and event.is_set())
            ):
                turn = now
            if turn >= due:  # most tasks: another is due before
                continue
            process = task.process
            if process.killed:
                continue
            if process.held_until or task.held_until:  # few are
                turn = max(turn, process.held_until, task.held_until)
            if turn <= now:
                ready.append(task)
            elif turn < due:
                due = turn
        return ready, due

    def _turn(self, task: Task) -> None:
        self._turns += 1
        if self._turns > MOST_TURNS:
            raise EndlessLoopError(f"{task.process.name}: {task.name} leaves no time to others")
        task.due, task.flag, task.event = NEVER, _NO_FLAG, None
        self.current = task
        task.greenlet.switch()
        self.current = None
        if task.ended.is_set():
            self.tasks.remove(task)
            if task.error is not None:
                self.failed.append(task)

    def _advance(self, end: int) -> None:
        reached = self.world.advance(end)
        if reached > self.now:
            self._turns = 0
        self.now = reached
