"""Machines whose time passes only while a thread sleeps."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.robot.control import RobotControl

LEAST = 1e-6  # [s] shortest sleep: stepped time is in whole nanoseconds


class SteppedTime(Machine):
    """Sleeping lets time pass. Threads are real ones, without priority.

    `on_sleep` is called before each sleep, with the time [s].
    """

    on_sleep: Callable[[float], None] | None = None

    @abstractmethod
    def advance(self, seconds: float) -> None:
        """Let time pass."""

    def clock_ns(self) -> int:
        """See Machine."""
        return round(self.clock() * 1e9)

    def system_time_ns(self) -> int:
        """See Machine: it begins in 1970."""
        return self.clock_ns()

    def sleep(self, seconds: float) -> None:
        """See Machine."""
        if self.on_sleep is not None:
            self.on_sleep(self.clock())
        self.advance(max(seconds, LEAST))

    def wait(self, event: threading.Event, seconds: float | None = None) -> bool:
        """See Machine. Without a limit another thread must let time pass and set the event."""
        if seconds is None:
            return event.wait()
        if not event.is_set():
            self.sleep(seconds)
        return event.is_set()

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        """See Machine."""
        return LINUX.start(name, run)

    def make_realtime(self, priority: int) -> str:
        """See Machine: the system is not changed."""
        return ""

    def make_ros_side_realtime(self) -> None:
        """See Machine: the system is not changed."""


class RingTime(SteppedTime):
    """Time of a virtual ring or robot with `clock="stepped"`, by a connection of its own."""

    def __init__(self, control: RingControl | RobotControl) -> None:
        self._lock = threading.Lock()
        self._control = type(control)(control._path)
        self.close = self._control.close

    def clock(self) -> float:
        """See Machine."""
        with self._lock:
            return float(self._control.time())

    def advance(self, seconds: float) -> None:
        """See SteppedTime."""
        with self._lock:
            self._control.advance(seconds)
