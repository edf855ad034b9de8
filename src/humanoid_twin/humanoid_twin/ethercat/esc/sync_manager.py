"""Sync managers, their watchdog and FMMUs as set by a master (ETG.1000.4; ESC data sheet)."""

import struct
from dataclasses import dataclass
from typing import Final

from humanoid_twin.clock import NEVER
from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.esc import ESC_BYTES, Esc
from humanoid_twin.ethercat.parameters import Buffer

MAILBOX_OUT, MAILBOX_IN, OUTPUTS, INPUTS = range(4)  # use of the sync managers, as in 0x1C00
FULL: Final = 0x08  # mailbox status bit
_CONTROL, _STATUS, _ACTIVATE = 4, 5, 6  # offsets
# Control, bits 1-0: three buffers (0) or a mailbox (2); bits 3-2: 1 if the master writes. By use.
_KIND_MASK: Final = 0x0F
_KINDS: Final = (0x06, 0x02, 0x04, 0x00)
_PLACE: Final = struct.Struct("<HH2xB")  # start, length, and whether it is active (bit 0)
_SHORTEST_MAILBOX: Final = 32  # [bytes]
_FMMUS: Final = 8  # assumed, confirm on hardware
_READ, _WRITE = 1, 2  # FMMU type
_WATCHDOG_TICK: Final = 40  # [ns]
_WATCHDOG_DIVIDER: Final = 0x09C2  # power-up values: 100 us, and 1000 of these
_WATCHDOG_PERIODS: Final = 1000


class SyncManager:
    """One sync manager's registers, read at each use."""

    def __init__(self, esc: Esc, number: int) -> None:
        """`number`: one of MAILBOX_OUT, MAILBOX_IN, OUTPUTS and INPUTS."""
        self._memory = esc.memory
        self._base = reg.SYNC_MANAGER + number * reg.SYNC_MANAGER_BYTES
        self._kind = _KINDS[number]

    @property
    def fits_its_use(self) -> bool:
        """True if it is active, with the buffers and the direction of its use."""
        return self.active and self._memory[self._base + _CONTROL] & _KIND_MASK == self._kind

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
        """True if the master has switched it on."""
        return bool(self._memory[self._base + _ACTIVATE] & 1)

    @property
    def full(self) -> bool:
        """True if a mailbox holds a message."""
        return bool(self._memory[self._base + _STATUS] & FULL)

    def mark(self, *, full: bool) -> None:
        """Set whether the mailbox holds a message."""
        place = self._base + _STATUS
        status = self._memory[place] & ~FULL
        self._memory[place] = status | (FULL if full else 0)

    @property
    def holds_messages(self) -> bool:
        """True if it is active, in RAM, and long enough for an SDO."""
        return self.active and self.in_ram and self.length >= _SHORTEST_MAILBOX

    @property
    def in_ram(self) -> bool:
        """True if its buffer is within the ESC's RAM."""
        return self.start >= reg.RAM and self.stop <= ESC_BYTES

    def is_at(self, buffer: Buffer) -> bool:
        """Return whether it is set up for its use, and its buffer is the expected one."""
        return self.fits_its_use and (self.start, self.length) == (buffer.start, buffer.length)

    def touches(self, address: int, length: int) -> bool:
        """Return whether it is active and an access has bytes in its buffer."""
        start, size, active = _PLACE.unpack_from(self._memory, self._base)
        return bool(active & 1) and address < start + size and start < address + length


@dataclass(frozen=True, slots=True)
class Fmmu:
    """One line of the logical memory's map, in bits."""

    logical_bit: int  # first bit, counted from logical address 0
    bits: int
    physical_bit: int
    reads: bool
    writes: bool


def active_fmmus(esc: Esc) -> list[Fmmu]:
    """Return the FMMUs that map bits, in order."""
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


class Watchdog:
    """Expires without process data for the time in its registers (0: never)."""

    def __init__(self, esc: Esc) -> None:
        self._esc = esc
        for register in (reg.WATCHDOG_DIVIDER, reg.WATCHDOG_PROCESS_DATA):
            esc.on(register, 2, after_write=lambda _address, _data: self._load())
        self.power_up()

    def power_up(self) -> None:
        """Reset the registers."""
        self._esc.put(reg.WATCHDOG_DIVIDER, 2, _WATCHDOG_DIVIDER)
        self._esc.put(reg.WATCHDOG_PDI, 2, _WATCHDOG_PERIODS)
        self._esc.put(reg.WATCHDOG_PROCESS_DATA, 2, _WATCHDOG_PERIODS)
        self._show(fed=False)
        self._load()

    def due(self, fed: int) -> int:
        """Return the first time [ns] at which it has expired, after process data at `fed` [ns]."""
        return fed + self._time + 1 if self._time else NEVER

    def expired(self, since: int) -> bool:
        """Return whether it has expired, `since` [ns] after the last process data."""
        expired = 0 < self._time < since
        if expired == self._fed:
            self._show(fed=not expired)
        return expired

    def _show(self, *, fed: bool) -> None:
        self._fed = fed
        self._esc.put(reg.WATCHDOG_STATUS, 2, fed)

    def _load(self) -> None:
        divider = self._esc.get(reg.WATCHDOG_DIVIDER, 2)
        self._time = (
            (divider + 2) * _WATCHDOG_TICK * self._esc.get(reg.WATCHDOG_PROCESS_DATA, 2)
        )  # [ns]
