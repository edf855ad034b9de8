"""The data between control process and guard: the job, then values in common memory."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import IntEnum
from mmap import PAGESIZE, mmap
from typing import Final, Protocol

from humanoid_devices_can.bus.bus import BusSettings, CanFrame
from humanoid_devices_can.guard.disabled_proof import DisabledProof

GOOD_BYE: Final = b"good-bye\n"


class ControlProcess(Protocol):
    """The process that the guard guards."""

    last: bytes | None  # GOOD_BYE; empty: the process ended without it; None: neither yet

    def wait(self, seconds: float) -> None:
        """Wait for a time [s], or until the control process dismisses the guard or ends."""


@dataclass(frozen=True, slots=True)
class GuardedMotor:
    """One motor: its name, for messages, and the proof that it is disabled."""

    name: str
    proof: DisabledProof


@dataclass(frozen=True, slots=True)
class GuardJob:
    """The bus, and the frames that disable all motors on it."""

    bus: BusSettings
    motors: tuple[GuardedMotor, ...]
    frames: tuple[CanFrame, ...]
    timeout: float  # [s] the loop may stand still
    confirms: bool = False  # the adapter has confirmed for the control process; see Bus

    @property
    def names(self) -> str:
        """Return the names of all motors."""
        return ", ".join(motor.name for motor in self.motors)

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
        content["motors"] = tuple(
            GuardedMotor(it["name"], _proof(**it["proof"])) for it in content["motors"]
        )
        content["frames"] = tuple((it[0], bytes.fromhex(it[1])) for it in content["frames"])
        return cls(**content), page


def _proof(feedback: Iterable[int], answer: Iterable[int] | None) -> DisabledProof:
    if answer is None:
        return DisabledProof(tuple(feedback))
    mask, value = answer
    return DisabledProof(tuple(feedback), (mask, value))


_FED, _ALIVE_AT, _STAGE, _WAITED, _PROVED = range(5)  # then one for each further motor
MEMORY_BYTES: Final = PAGESIZE  # one double each


class Stage(IntEnum):
    """Progress of a guard."""

    WATCHES = 0
    ACTS = 1  # it is disabling the motors: they may have torque
    DONE = 2  # they are disabled
    FAILED = 3  # they may have torque; the guard watches again


class GuardMemory:
    """One process's view of the memory; aligned values are stored whole."""

    def __init__(self, memory: mmap | bytearray) -> None:
        """`memory`: MEMORY_BYTES, all zeros."""
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

    def note_wait(self) -> None:
        """Note that an attempt has failed: frames received before prove nothing any more."""
        self._values[_WAITED] = 1.0

    def note_proved(self, motors: Iterable[int]) -> None:
        """Note the motors that have shown the guard itself that they are disabled."""
        for motor in motors:
            self._values[_PROVED + motor] = 1.0

    @property
    def waited(self) -> bool:
        """Return whether an attempt has failed."""
        return bool(self._values[_WAITED])

    def has_proved(self, motor: int) -> bool:
        """Return whether a motor has shown the guard itself that it is disabled."""
        return bool(self._values[_PROVED + motor])

    @property
    def alive_at(self) -> float:
        """Return when [s] the guard ran last; 0: never."""
        return self._values[_ALIVE_AT]

    @property
    def stage(self) -> Stage:
        """Return the guard's progress."""
        return Stage(int(self._values[_STAGE]))
