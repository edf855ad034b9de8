"""What passes between control process and guard: the job, then values in common memory."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from enum import IntEnum
from mmap import mmap
from typing import Final

from humanoid_devices_can.bus.bus import BusSettings, CanFrame

GOOD_BYE: Final = b"good-bye\n"


@dataclass(frozen=True, slots=True)
class GuardJob:
    """The bus, and the frames that disable all motors on it."""

    bus: BusSettings
    motors: str  # names, for messages
    frames: tuple[CanFrame, ...]
    feedback_identifiers: tuple[int, ...]  # see MotorFamily; empty: any data frame counts
    patience: float  # [s] the loop may stand still

    def encode(self, page: int) -> bytes:
        """Return one line: the job, and the descriptor of the shared memory."""
        content = {**asdict(self), "page": page}
        content["bus"]["options"] = dict(self.bus.options)
        content["frames"] = [(identifier, data.hex()) for identifier, data in self.frames]
        return json.dumps(content).encode() + b"\n"

    @classmethod
    def decode(cls, line: bytes) -> tuple[GuardJob, int]:
        """Return job and descriptor of a line. Raises KeyError, ValueError or TypeError."""
        content = json.loads(line)
        page = int(content.pop("page"))
        content["bus"] = BusSettings(**content["bus"])
        content["feedback_identifiers"] = tuple(content["feedback_identifiers"])
        content["frames"] = tuple((it[0], bytes.fromhex(it[1])) for it in content["frames"])
        return cls(**content), page


_FED, _ALIVE_AT, _STAGE = range(3)
MEMORY_BYTES: Final = 3 * 8  # one double each


class Stage(IntEnum):
    """Progress of a guard."""

    WATCHES = 0
    ACTS = 1  # it is disabling the motors: they may have torque
    DONE = 2  # they are disabled
    FAILED = 3  # they may have torque; the guard watches again


class GuardMemory:
    """One process's view of the memory; aligned values are stored whole."""

    def __init__(self, memory: mmap | bytearray) -> None:
        """`memory`: all zeros; MEMORY_BYTES at least, and a multiple of 8."""
        self._values = memoryview(memory).cast("d")

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
