"""The machine that a process runs on: its clocks, its waits and its threads.

All code that needs time takes a Machine as argument. The stepped robot replaces `LINUX` by a
simulated one: then one seed decides when everything happens.
"""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Protocol

from humanoid_control_common.machine.lock_event import LockEvent


class Thread(Protocol):
    """A started thread."""

    def is_alive(self) -> bool:
        """Return whether the thread still runs."""

    def join(self, timeout: float | None = None) -> None:
        """Return when the thread has ended, or after `timeout` [s]."""


class Machine(ABC):
    """The only source of time, and the only way to wait or to start a thread.

    Any thread may call its methods.
    """

    @abstractmethod
    def clock(self) -> float:
        """Return the monotonic time [s], that of Linux' CLOCK_MONOTONIC."""

    @abstractmethod
    def clock_ns(self) -> int:
        """Return the same time in [ns]."""

    @abstractmethod
    def system_time_ns(self) -> int:
        """Return the system's time [ns since 1970]; it may be set, and jump."""

    @abstractmethod
    def sleep(self, seconds: float) -> None:
        """Return after `seconds`."""

    def event(self) -> threading.Event:
        """Return an Event for `wait`. One thread waits and clears; any thread sets."""
        return LockEvent()

    @abstractmethod
    def wait(self, event: threading.Event, seconds: float | None = None) -> bool:
        """Return True once `event` is set, False after `seconds`; None waits without end."""

    @abstractmethod
    def start(self, name: str, run: Callable[[], None]) -> Thread:
        """Run `run` in a thread that does not keep the process alive.

        Raises RuntimeError if no thread can be started.
        """

    @abstractmethod
    def make_realtime(self, priority: int) -> str:
        """Give the calling thread SCHED_FIFO; return what was refused, empty if nothing was."""

    @abstractmethod
    def make_ros_side_realtime(self) -> None:
        """Give SCHED_FIFO to the calling thread and to the middleware's, if permitted."""
