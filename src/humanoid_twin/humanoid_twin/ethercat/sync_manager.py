"""Sync managers and FMMUs as a master has set them (ETG.1000.4; ESC data sheet)."""

import struct
from dataclasses import dataclass
from typing import Final

from humanoid_twin.ethercat import registers as reg
from humanoid_twin.ethercat.esc import ESC_BYTES, Esc
from humanoid_twin.ethercat.parameters import Buffer

MAILBOX_OUT, MAILBOX_IN, OUTPUTS, INPUTS = range(4)  # use of the sync managers, as in 0x1C00
FULL: Final = 0x08  # mailbox status bit
_STATUS, _ACTIVATE = 5, 6  # offsets
_PLACE: Final = struct.Struct("<HH2xB")  # start, length, and whether it is active (bit 0)
_SHORTEST_MAILBOX: Final = 32  # [bytes]
_FMMUS: Final = 8  # assumed, confirm on hardware
_READ, _WRITE = 1, 2  # FMMU type


class SyncManager:
    """One sync manager's registers, read when they are needed."""

    def __init__(self, esc: Esc, number: int) -> None:
        """`number`: one of the uses above."""
        self._memory = esc.memory
        self._base = reg.SYNC_MANAGER + number * reg.SYNC_MANAGER_BYTES

    @property
    def start(self) -> int:
        """First byte of the buffer."""
        return int(_PLACE.unpack_from(self._memory, self._base)[0])

    @property
    def length(self) -> int:
        """Size of the buffer [bytes]."""
        return int(_PLACE.unpack_from(self._memory, self._base)[1])

    @property
    def stop(self) -> int:
        """First byte after the buffer."""
        start, length, _ = _PLACE.unpack_from(self._memory, self._base)
        return int(start + length)

    @property
    def active(self) -> bool:
        """Whether the master has switched it on."""
        return bool(self._memory[self._base + _ACTIVATE] & 1)

    @property
    def full(self) -> bool:
        """Whether a mailbox holds a message."""
        return bool(self._memory[self._base + _STATUS] & FULL)

    def mark(self, *, full: bool) -> None:
        """Say whether the mailbox holds a message."""
        place = self._base + _STATUS
        status = self._memory[place] & ~FULL
        self._memory[place] = status | (FULL if full else 0)

    @property
    def holds_messages(self) -> bool:
        """Whether it is active, in RAM, and long enough for an SDO."""
        return self.active and self.in_ram and self.length >= _SHORTEST_MAILBOX

    @property
    def in_ram(self) -> bool:
        """Whether its buffer is within the ESC's RAM."""
        return self.start >= reg.RAM and self.stop <= ESC_BYTES

    def is_at(self, buffer: Buffer) -> bool:
        """Whether it is active and its buffer is the expected one."""
        return self.active and (self.start, self.length) == (buffer.start, buffer.length)

    def touches(self, address: int, length: int) -> bool:
        """Whether it is active and an access has bytes in its buffer."""
        start, size, active = _PLACE.unpack_from(self._memory, self._base)
        return bool(active & 1) and address < start + size and start < address + length


@dataclass(frozen=True, slots=True)
class Fmmu:
    """One line of the logical memory's map, to the bit."""

    logical_bit: int  # first bit, counted from logical address 0
    bits: int
    physical_bit: int
    reads: bool
    writes: bool


def active_fmmus(esc: Esc) -> list[Fmmu]:
    """The FMMUs that map something, in order."""
    found = []
    for number in range(_FMMUS):
        base = reg.FMMU + number * reg.FMMU_BYTES
        line = esc.memory[base : base + reg.FMMU_BYTES]
        length = int.from_bytes(line[4:6], "little")
        first, last = line[6] & 7, line[7] & 7
        bits = 8 * (length - 1) + last - first + 1 if length else 0
        if line[12] & 1 and bits > 0:
            logical = 8 * int.from_bytes(line[0:4], "little") + first
            physical = 8 * int.from_bytes(line[8:10], "little") + (line[10] & 7)
            use = line[11]
            found.append(Fmmu(logical, bits, physical, bool(use & _READ), bool(use & _WRITE)))
    return found
