"""Stepped time: threads, bus and motors of a test on one clock."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from random import Random
from typing import TypeVar

from humanoid_devices_can.guard.channel import GuardJob
from humanoid_devices_can.guard.claim import Claim
from humanoid_devices_can.host import CanHost
from humanoid_stepped.can_guard import Claims, SteppedGuard
from humanoid_stepped.scheduler import NANO, NEVER, Process, Scheduler, World
from humanoid_stepped.stepped_machine import SteppedMachine
from humanoid_stepped.wires.can import MemoryAdapter
from humanoid_twin.scheduler import Scheduler as RobotScheduler

LONGEST = 60.0  # [s] of stepped time that a test waits
Result = TypeVar("Result")


class EmptyWorld:
    """A world with threads only. See World."""

    next_event = NEVER

    def advance(self, end: int) -> int:
        return end


class CanWorld:
    """The motors of one bus. See World."""

    next_event = NEVER

    def __init__(self, robot: RobotScheduler) -> None:
        self._robot = robot

    def advance(self, end: int) -> int:
        self._robot.run(end)
        return self._robot.now


class SteppedTime(SteppedMachine):
    """A process on a clock that the test advances. No thread is late."""

    def __init__(self, world: World | None = None) -> None:
        super().__init__(Scheduler(Random(0), world or EmptyWorld()), Process("test"))
        self.scheduler.latency = 0

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        self.scheduler.run_for(seconds)

    def call(self, function: Callable[[], Result]) -> Result:
        """Let a thread call `function`; return its result, or raise its error."""
        results: list[Result] = []
        scheduler = self.scheduler
        task = scheduler.start(self.process, "call", lambda: results.append(function()))
        scheduler._turn(task)  # before all others
        if task.is_alive():
            latest = scheduler.now + round(LONGEST * NANO)
            assert scheduler.run_until(latest, task.ended.is_set), "it takes too long"
        if task.error is not None:
            raise task.error
        return results[0]


def stepped_host(time: SteppedTime, adapter: MemoryAdapter) -> CanHost:
    """A computer with this adapter, whose guard is a process of the same stepped time."""
    claims = Claims()

    def start_guard(job: GuardJob, _claim: Claim | None) -> SteppedGuard:
        machine = SteppedMachine(time.scheduler, Process("can guard"))
        claims.inherit(machine.process)
        return SteppedGuard(job, time.process, machine, partial(adapter.open, machine=machine))

    return CanHost(
        machine=time,
        open_bus=partial(adapter.open, machine=time),
        claim=claims.of_process(time.process),
        start_guard=start_guard,
    )
