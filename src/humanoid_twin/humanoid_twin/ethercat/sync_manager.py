"""Sync managers and FMMUs as a master has set them (ETG.1000.4; ESC data sheet)."""

from dataclasses import dataclass
from typing import Final

from humanoid_twin.ethercat import registers as reg
from humanoid_twin.ethercat.esc import ESC_BYTES, Esc
from humanoid_twin.ethercat.parameters import Buffer

MAILBOX_OUT, MAILBOX_IN, OUTPUTS, INPUTS = range(4)  # use of the sync managers, as in 0x1C00
FULL: Final = 0x08  # mailbox status bit
_STATUS, _ACTIVATE, _CONTROL = 5, 6, 4  # offsets
_SHORTEST_MAILBOX: Final = 32  # [bytes]
_FMMUS: Final = 8  # assumed, confirm on hardware
_READ, _WRITE = 1, 2  # FMMU type


@dataclass(frozen=True, slots=True)
class SyncManager:
    """One sync manager's registers, read when they are needed."""

    esc: Esc
    number: int

    @property
    def start(self) -> int:
        """First byte of the buffer."""
        return self.esc.get(self._base, 2)

    @property
    def length(self) -> int:
        """Size of the buffer [bytes]."""
        return self.esc.get(self._base + 2, 2)

    @property
    def stop(self) -> int:
        """First byte after the buffer."""
        return self.start + self.length

    @property
    def active(self) -> bool:
        """Whether the master has switched it on."""
        return bool(self.esc.memory[self._base + _ACTIVATE] & 1)

    @property
    def full(self) -> bool:
        """Whether a mailbox holds a message."""
        return bool(self.esc.memory[self._base + _STATUS] & FULL)

    def mark(self, *, full: bool) -> None:
        """Say whether the mailbox holds a message."""
        place = self._base + _STATUS
        status = self.esc.memory[place] & ~FULL
        self.esc.memory[place] = status | (FULL if full else 0)

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
        return self.active and address < self.stop and self.start < address + length

    @property
    def _base(self) -> int:
        return reg.SYNC_MANAGER + self.number * reg.SYNC_MANAGER_BYTES


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
