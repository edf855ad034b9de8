"""The virtual robot's time: integer nanoseconds since it was switched on."""

import time
from typing import Protocol

FRAME_TIME = 10_000  # [ns] by which a frame advances the stepped clock


class Clock(Protocol):
    """Tells what time it is for the robot."""

    def now(self) -> int:
        """The time [ns]."""

    def arrival(self, age: int) -> int:
        """The time [ns] of a frame that the kernel got `age` [ns] ago. Counts the frame."""


class WallClock:
    """Time passes as it does in the world."""

    def __init__(self) -> None:
        self.epoch = time.monotonic_ns()  # [ns] at time 0

    def now(self) -> int:
        """The time [ns]."""
        return time.monotonic_ns() - self.epoch

    def arrival(self, age: int) -> int:
        """The time [ns] of a frame: when the master sent it, not when the ring came to read it."""
        return time.monotonic_ns() - self.epoch - age


class SteppedClock:
    """Time passes by 10 us a frame of the ring and by `advance` only: runs repeat exactly."""

    def __init__(self) -> None:
        self._now = 0

    def now(self) -> int:
        """The time [ns]."""
        return self._now

    def arrival(self, age: int) -> int:
        """The time [ns] of a frame."""
        self._now += FRAME_TIME
        return self._now

    def advance(self, nanoseconds: int) -> int:
        """Let time pass; the new time [ns]."""
        self._now += nanoseconds
        return self._now


class Moment:
    """The time [ns] that is being dealt with, shared by all units of a robot."""

    __slots__ = ("now",)

    def __init__(self, now: int = 0) -> None:
        self.now = now
