"""Objects of the drives' dictionaries to read or write, and the results: plain values."""

from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import Final, TypeAlias

LONGEST: Final = 1024  # [bytes] of an object, as in humanoid_control_msgs/SdoObject

Key: TypeAlias = tuple[int, int]  # index, subindex


class SdoStatus(IntEnum):
    """Result of one object, numbered as in humanoid_control_msgs/SdoResult."""

    DONE = 0
    REFUSED = 1  # never sent
    ABORTED = 2  # the drive refused it, or its answer contradicts itself
    TIMED_OUT = 3  # no answer, or interrupted: unknown whether it was written
    DIFFERENT = 4  # written, but reads back as another value


@dataclass(frozen=True, slots=True)
class SdoObject:
    """One CoE object of one slave."""

    slave: int  # ring position, from 0
    index: int
    subindex: int
    data: bytes = b""  # little-endian, as long as the object; empty in read requests

    @property
    def key(self) -> Key:
        """Return index and subindex."""
        return self.index, self.subindex

    def __str__(self) -> str:
        """Return slave and object as messages name them."""
        return f"slave {self.slave} 0x{self.index:04X}:{self.subindex:02X}"


@dataclass(frozen=True, slots=True)
class SdoBatch:
    """Objects to read, or to write and read back: in order within a slave, all slaves at once.

    To address one slave after the other, submit a batch per slave: the permission to write could
    otherwise end before the last one.
    """

    objects: tuple[SdoObject, ...]
    write: bool
    mode: int = 0  # mode and switch number for which a write is meant
    number: int = 0
    valid_until: float = inf  # [s] on the engine's clock; no write begins later


@dataclass(frozen=True, slots=True)
class SdoResult:
    """The result of one object; `object.data` is the value that was read (back)."""

    object: SdoObject
    status: SdoStatus
    abort_code: int = 0  # 0 unless ABORTED
    message: str = ""  # empty if DONE


@dataclass(frozen=True, slots=True)
class SdoOutcome:
    """The end of one transfer."""

    status: SdoStatus
    data: bytes = b""  # the value read
    abort_code: int = 0
    message: str = ""
