"""A machine whose clocks and threads are those of the scheduler."""

from collections.abc import Callable
from threading import Event
from typing import Final

from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_stepped.scheduler import NANO, Flag, Process, Scheduler

BOOT: Final = 1_000 * NANO  # [ns] of the monotonic clock when the trial begins
EPOCH: Final = 1_700_000_000 * NANO  # [ns since 1970] of the system's clock then


class SteppedMachine(Machine):
    """The machine of one process. See Machine."""

    def __init__(self, scheduler: Scheduler, process: Process) -> None:
        self.scheduler, self.process = scheduler, process

    def clock(self) -> float:
        """See Machine."""
        return (self.scheduler.now + BOOT) / NANO

    def clock_ns(self) -> int:
        """See Machine."""
        return self.scheduler.now + BOOT

    def system_time_ns(self) -> int:
        """See Machine."""
        return self.scheduler.now + EPOCH + self.scheduler.system_offset

    def sleep(self, seconds: float) -> None:
        """See Machine."""
        self.scheduler.wait(None, seconds)

    def event(self) -> Event:
        """See Machine."""
        return Flag()

    def wait(self, event: Event, seconds: float | None = None) -> bool:
        """See Machine."""
        return self.scheduler.wait(event, seconds)

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        """See Machine."""
        return self.scheduler.start(self.process, name, run)

    def make_realtime(self, priority: int) -> str:
        """See Machine."""
        return ""

    def make_ros_side_realtime(self) -> None:
        """See Machine."""
