"""The memory that control process and guard share: a few numbers, each written by one of them."""

from __future__ import annotations

import mmap
import os
from enum import IntEnum
from typing import Final

PAGE_BYTES: Final = mmap.PAGESIZE
_FED, _SEEN, _STAGE = range(3)


class Stage(IntEnum):
    """How far a guard is."""

    WATCHES = 0
    ACTS = 1  # it tries to disable the motors: they may have torque
    DONE = 2  # they are disabled
    FAILED = 3  # they may have torque; it watches again


class GuardPage:
    """One process's view of the page. A value is stored whole: it is aligned."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor`: of the memory, from `new_page`; it may be closed then."""
        self._values = memoryview(mmap.mmap(descriptor, PAGE_BYTES)).cast("d")

    # The control process says:

    def feed(self) -> None:
        """The loop has come round once more."""
        self._values[_FED] += 1.0

    def stop_feeding(self) -> None:
        """The loop has ended in order: it will not come round any more."""
        self._values[_FED] = 0.0

    @property
    def fed(self) -> float:
        """How often the loop has come round; 0: it is not running."""
        return self._values[_FED]

    # The guard says:

    def look(self, now: float) -> None:
        """The guard was awake at `now` [s], monotonic."""
        self._values[_SEEN] = now

    def tell(self, stage: Stage, now: float) -> None:
        """The guard has come to `stage` at `now` [s], monotonic."""
        self.look(now)
        self._values[_STAGE] = stage

    @property
    def seen(self) -> float:
        """When [s] the guard was awake last; 0: never yet."""
        return self._values[_SEEN]

    @property
    def stage(self) -> Stage:
        """How far the guard is."""
        return Stage(int(self._values[_STAGE]))


def new_page() -> int:
    """Descriptor of new shared memory, all zeros."""
    descriptor = os.memfd_create("can guard")
    os.truncate(descriptor, PAGE_BYTES)
    return descriptor
