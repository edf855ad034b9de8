"""The real machine: the clocks and threads of Linux."""

import threading
import time
from collections.abc import Callable
from typing import Final

from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.machine.realtime import make_ros_side_realtime, make_thread_realtime


class LinuxMachine(Machine):
    """See Machine."""

    def clock(self) -> float:
        """See Machine."""
        return time.monotonic()

    def clock_ns(self) -> int:
        """See Machine."""
        return time.monotonic_ns()

    def system_time_ns(self) -> int:
        """See Machine."""
        return time.time_ns()

    def sleep(self, seconds: float) -> None:
        """See Machine."""
        time.sleep(seconds)

    def wait(self, event: threading.Event, seconds: float | None = None) -> bool:
        """See Machine."""
        return event.wait(seconds)

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        """See Machine."""
        thread = threading.Thread(target=run, name=name, daemon=True)
        thread.start()
        return thread

    def make_realtime(self, priority: int) -> str:
        """See Machine."""
        return make_thread_realtime(priority)

    def make_ros_side_realtime(self) -> None:
        """See Machine."""
        make_ros_side_realtime()


LINUX: Final[Machine] = LinuxMachine()
