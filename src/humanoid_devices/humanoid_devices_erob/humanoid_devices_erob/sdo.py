"""What can be asked of the drives' object dictionaries, and what became of it: plain values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import Final

LONGEST: Final = 1024  # [bytes] of an object, as humanoid_control_msgs/SdoObject has it


class SdoStatus(IntEnum):
    """What became of one object, numbered as in humanoid_control_msgs/SdoResult."""

    DONE = 0
    REFUSED = 1  # never sent
    ABORTED = 2  # refused by the drive, or its answer contradicts itself
    TIMED_OUT = 3  # no answer, or interrupted: whether it was written is not known
    DIFFERENT = 4  # written, but reads back as another value


@dataclass(frozen=True, slots=True)
class SdoObject:
    """One CoE object of one slave."""

    slave: int  # ring position, from 0
    index: int
    subindex: int
    data: bytes = b""  # little-endian, as long as the object; empty in read requests

    def __str__(self) -> str:
        """Slave and object as the messages name them."""
        return f"slave {self.slave} 0x{self.index:04X}:{self.subindex:02X}"


@dataclass(frozen=True, slots=True)
class SdoBatch:
    """Objects to read, or to write and read back: in order within a slave, all slaves at once.

    One slave after another is a batch per slave: a permission to write would end before the last.
    """

    objects: tuple[SdoObject, ...]
    write: bool
    mode: int = 0  # mode and switch number that a write is meant for
    number: int = 0
    valid_until: float = inf  # [s] on the engine's clock; no write is begun later


@dataclass(frozen=True, slots=True)
class SdoResult:
    """What became of one object; `object.data` is as read (back)."""

    object: SdoObject
    status: SdoStatus
    abort_code: int = 0  # 0 unless ABORTED
    message: str = ""  # empty if DONE


@dataclass(frozen=True, slots=True)
class SdoOutcome:
    """How one transfer ended."""

    status: SdoStatus
    data: bytes = b""  # what was read
    abort_code: int = 0
    message: str = ""
