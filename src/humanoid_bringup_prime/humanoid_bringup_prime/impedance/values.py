"""What the parts of the impedance manager hand to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from humanoid_control_common.modes import Mode
from humanoid_devices_erob.sdo import SdoObject, SdoResult


class Wish(NamedTuple):
    """A mode whose gains the drives are to have, and the number of the switch that led to it."""

    mode: Mode
    number: int


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Objects to read, or to write and read back: in their order within a slave.

    Two batches are never equal, so that an answer finds its own.
    """

    wish: Wish
    write: bool
    objects: tuple[SdoObject, ...]
    sent: float  # [s] of the monotonic clock, which is one for all processes of the machine
    valid_until: float  # [s] of the same: nothing is written later

    @property
    def slaves(self) -> frozenset[int]:
        """Ring positions of the drives it is about."""
        return frozenset(item.slave for item in self.objects)


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a batch: a result per object, or why there is none."""

    results: Sequence[SdoResult] = ()
    failure: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """What the impedance manager tells the world."""

    gate_open: bool
    armed: bool
    confirmed: bool
    wish: Wish | None
    registers: tuple[tuple[int, int, int], ...]  # position, velocity, integral; -1: not known
    message: str  # what is wrong or waited for; empty if nothing
