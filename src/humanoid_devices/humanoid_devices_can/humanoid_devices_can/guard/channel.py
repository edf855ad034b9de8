"""What passes between control process and guard: the job through a pipe, then shared memory."""

from __future__ import annotations

import json
import mmap
import os
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Final

from humanoid_devices_can.bus.bus import BusSettings, CanFrame

GOOD_BYE: Final = b"good-bye\n"


@dataclass(frozen=True, slots=True)
class GuardJob:
    """The bus, and the frames that disable all motors on it; the guard reads it from stdin."""

    bus: BusSettings
    motors: str  # names, for messages
    frames: tuple[CanFrame, ...]
    feedback_identifiers: tuple[int, ...]  # see MotorFamily; empty: any data frame counts
    patience: float  # [s] the loop may stand still
    page: int  # descriptor of the shared memory

    def encode(self) -> bytes:
        """Return the job as one line."""
        content = asdict(self)
        content["bus"]["options"] = dict(self.bus.options)
        content["frames"] = [(identifier, data.hex()) for identifier, data in self.frames]
        return json.dumps(content).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> GuardJob:
        """Return the job of a line. Raises ValueError or TypeError."""
        content = json.loads(line)
        content["bus"] = BusSettings(**content["bus"])
        content["feedback_identifiers"] = tuple(content["feedback_identifiers"])
        content["frames"] = tuple((it[0], bytes.fromhex(it[1])) for it in content["frames"])
        return cls(**content)


PAGE_BYTES: Final = mmap.PAGESIZE
_FED, _ALIVE_AT, _STAGE = range(3)


class Stage(IntEnum):
    """Progress of a guard."""

    WATCHES = 0
    ACTS = 1  # it is disabling the motors: they may have torque
    DONE = 2  # they are disabled
    FAILED = 3  # they may have torque; the guard watches again


class GuardMemory:
    """One process's view of the shared page; aligned values are stored whole."""

    def __init__(self, descriptor: int) -> None:
        """Map the memory behind `descriptor` (`new_memory`), which may be closed afterwards."""
        self._values = memoryview(mmap.mmap(descriptor, PAGE_BYTES)).cast("d")

    # Written by the control process.

    def feed(self) -> None:
        """Count one more tick of the loop."""
        self._values[_FED] += 1.0

    def stop_feeding(self) -> None:
        """Note that the loop has ended in order."""
        self._values[_FED] = 0.0

    @property
    def fed(self) -> float:
        """Return the number of ticks; 0: the loop is not running."""
        return self._values[_FED]

    # Written by the guard.

    def mark_alive(self, now: float) -> None:
        """Note that the guard runs at `now` [s], monotonic."""
        self._values[_ALIVE_AT] = now

    def set_stage(self, stage: Stage, now: float) -> None:
        """Note that the guard has reached `stage` at `now` [s], monotonic."""
        self.mark_alive(now)
        self._values[_STAGE] = stage

    @property
    def alive_at(self) -> float:
        """Return when [s] the guard ran last; 0: never."""
        return self._values[_ALIVE_AT]

    @property
    def stage(self) -> Stage:
        """Return the guard's progress."""
        return Stage(int(self._values[_STAGE]))


def new_memory() -> int:
    """Return the descriptor of new shared memory, all zeros."""
    descriptor = os.memfd_create("can guard")
    os.truncate(descriptor, PAGE_BYTES)
    return descriptor
