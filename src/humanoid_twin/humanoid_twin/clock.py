"""The virtual robot's time: integer nanoseconds since it was switched on."""

import time
from typing import Protocol

FRAME_TIME = 10_000  # [ns] by which a frame advances the stepped clock
NEVER = 1 << 63  # [ns] the time of an event that is not to come


class Clock(Protocol):
    """The robot's clock."""

    def now(self) -> int:
        """Return the time [ns]."""

    def arrival(self, age: int) -> int:
        """Return the time [ns] of a frame that the kernel received `age` [ns] ago. Counts it."""


class WallClock:
    """Time passes as the machine's does."""

    def __init__(self) -> None:
        self.epoch = time.monotonic_ns()  # [ns] at time 0

    def now(self) -> int:
        """Return the time [ns]."""
        return time.monotonic_ns() - self.epoch

    def arrival(self, age: int) -> int:
        """Return the time [ns] at which the master sent a frame, not the time of reading it."""
        return time.monotonic_ns() - self.epoch - age


class SteppedClock:
    """Time passes only by 10 us for a frame of the ring and by `advance`: runs repeat exactly."""

    def __init__(self) -> None:
        self._now = 0

    def now(self) -> int:
        """Return the time [ns]."""
        return self._now

    def arrival(self, age: int) -> int:
        """Return the time [ns] of a frame, 10 us after the one before."""
        self._now += FRAME_TIME
        return self._now

    def advance(self, nanoseconds: int) -> int:
        """Advance the time. Return the new time [ns]."""
        self._now += nanoseconds
        return self._now


class SimulatedTime:
    """The time [ns] of the event in progress, shared by all units of a robot."""

    __slots__ = ("now",)

    def __init__(self) -> None:
        self.now = 0
