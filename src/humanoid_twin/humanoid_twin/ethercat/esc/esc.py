"""The memory of one EtherCAT slave controller: registers and RAM, as seen from the wire.

Units add the function of registers with `on`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from humanoid_twin.ethercat.esc import registers as reg

ESC_BYTES = 0x3000  # registers, and 8 KiB of RAM (ESC data sheet, section I)

# Registers that a master can write, as (start, length); RAM is writable as a whole.
_WRITABLE = (
    (reg.STATION_ADDRESS, 2),
    (0x0012, 2),
    (reg.DL_CONTROL, 4),
    (reg.AL_CONTROL, 2),
    (reg.EVENT_MASK, 2),
    (reg.ERROR_COUNTERS, 20),
    (reg.WATCHDOG_DIVIDER, 2),
    (reg.WATCHDOG_PDI, 2),
    (reg.WATCHDOG_PROCESS_DATA, 2),
    (0x0442, 2),
    (reg.EEPROM_OWNER, 14),
    (reg.FMMU, 0x100),
    (reg.SYNC_MANAGER, 0x80),
    (reg.RECEIVE_TIME_PORT_0, 4),
    (reg.SYSTEM_TIME, 8),
    (reg.SYSTEM_TIME_OFFSET, 12),
    (reg.SPEED_COUNTER_START, 6),
    (0x0980, 2),
    (0x0982, 2),
    (reg.SYNC0_START, 8),
    (reg.SYNC0_CYCLE, 8),
)
# Within a sync manager's eight bytes, the status and the slave's own control byte.
_SYNC_MANAGER_READ_ONLY = (5, 7)
_MOST_LOOKED_UP = 64  # addresses and lengths of reads whose callbacks are kept
BeforeRead = Callable[[int, int], bool]


@dataclass(frozen=True, slots=True)
class _Hook:
    start: int
    stop: int
    before_read: BeforeRead | None
    before_write: Callable[[int, bytes], bool] | None
    after_write: Callable[[int, bytes], None] | None


class Esc:
    """One slave's memory. An access counts (working counter) or is refused; none raises."""

    def __init__(self) -> None:
        self.memory = bytearray(ESC_BYTES)
        self._writable = bytearray(reg.RAM) + b"\1" * (ESC_BYTES - reg.RAM)
        self._hooks: list[_Hook] = []
        self._before_read: dict[tuple[int, int], Sequence[BeforeRead]] = {}  # by address, length
        for start, length in _WRITABLE:
            self._writable[start : start + length] = b"\1" * length
        for manager in range(16):
            for offset in _SYNC_MANAGER_READ_ONLY:
                place = reg.SYNC_MANAGER + manager * reg.SYNC_MANAGER_BYTES + offset
                self._writable[place] = 0

    def on(
        self,
        start: int,
        length: int,
        *,
        before_read: BeforeRead | None = None,
        before_write: Callable[[int, bytes], bool] | None = None,
        after_write: Callable[[int, bytes], None] | None = None,
    ) -> None:
        """Add callbacks for accesses from the wire that touch [start, start + length).

        Callbacks get the address and the length or the data of the whole access. `before_read` may
        update the memory; a result of False refuses the access.
        """
        self._hooks.append(_Hook(start, start + length, before_read, before_write, after_write))
        self._before_read.clear()

    def read(self, address: int, length: int) -> bytes | None:
        """Return bytes for the wire; None if the access is refused (it doesn't count)."""
        stop = address + length
        if stop > ESC_BYTES or not length:
            return None
        before = self._before_read.get((address, length))
        if before is None:
            before = self._look_up(address, stop)
        for callback in before:
            if not callback(address, length):
                return None
        return bytes(self.memory[address:stop])

    def _look_up(self, address: int, stop: int) -> Sequence[BeforeRead]:
        """Return the callbacks before a read, and keep them: a master reads few registers often."""
        if len(self._before_read) >= _MOST_LOOKED_UP:
            self._before_read.clear()
        touched = [hook for hook in self._hooks if address < hook.stop and hook.start < stop]
        found = [hook.before_read for hook in touched if hook.before_read]
        self._before_read[address, stop - address] = found
        return found

    def write(self, address: int, data: bytes) -> bool:
        """Write bytes from the wire. Return False if none could be written (it doesn't count)."""
        stop = address + len(data)
        if stop > ESC_BYTES or self._writable.find(1, address, stop) < 0:
            return False
        touched = [hook for hook in self._hooks if address < hook.stop and hook.start < stop]
        if not all(hook.before_write(address, data) for hook in touched if hook.before_write):
            return False
        if self._writable.find(0, address, stop) < 0:
            self.memory[address:stop] = data
        else:
            for place, byte in enumerate(data, address):
                if self._writable[place]:
                    self.memory[place] = byte
        for hook in touched:
            if hook.after_write:
                hook.after_write(address, data)
        return True

    def count_up(self, address: int) -> None:
        """Increment an error counter, up to 255."""
        self.memory[address] = min(self.memory[address] + 1, 0xFF)

    def clear(self) -> None:
        """Set all memory to zero, as after a loss of power."""
        self.memory[:] = bytes(ESC_BYTES)

    def get(self, address: int, length: int) -> int:
        """Return an unsigned register, from the slave's side."""
        return int.from_bytes(self.memory[address : address + length], "little")

    def put(self, address: int, length: int, value: int) -> None:
        """Set a register from the slave's side; higher bits are cut off."""
        masked = value & (1 << 8 * length) - 1
        self.memory[address : address + length] = masked.to_bytes(length, "little")
