"""What the registers of the distributed clocks tell (ETG.1000.4). Addresses, and their meaning."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, TypeAlias

# Address and length, as they are read.
SYSTEM_TIME: Final = (0x0910, 28)  # with the delay from the reference clock at 0x0928
TIME_DIFFERENCE: Final = (0x092C, 4)
SYNC_UNIT: Final = (0x0981, 35)  # activation, start time at 0x0990, period at 0x09A0

_SYSTEM_TIME: Final = struct.Struct("<Q16xI")
_SYNC_UNIT: Final = struct.Struct("<B14xQ8xI")
_SYNC0_ACTIVE: Final = 0x03  # cyclic operation, SYNC0
_SAME_TIME: Final = 1_000_000_000  # [ns] in which all clocks have been read, one after the other
_LONGEST_DELAY: Final = 1_000_000  # [ns] of a frame from the first slave to any other

Read: TypeAlias = Callable[[int, int, int], bytes]  # slave, address, length


def clocks_astray(count: int, read: Read) -> list[int]:
    """Slaves whose time isn't the first one's, or whose delay can't be: they come down a line."""
    found = [_SYSTEM_TIME.unpack(read(slave, *SYSTEM_TIME)) for slave in range(count)]
    first, last_delay = found[0]
    astray = []
    for slave, (time, delay) in enumerate(found):
        if not (0 <= time - first < _SAME_TIME and last_delay <= delay < _LONGEST_DELAY):
            astray.append(slave)
        last_delay = delay
    return astray


def time_difference(data: bytes) -> int:
    """How far a clock is from the reference [ns], from TIME_DIFFERENCE: sign and magnitude."""
    return int.from_bytes(data, "little") & 0x7FFFFFFF


def sync0_is_on(data: bytes, period_ns: int, now: int) -> bool:
    """Whether SYNC_UNIT says that SYNC0 fires with this period, from a time after `now` [ns] on."""
    activation, start, period = _SYNC_UNIT.unpack(data)
    return bool(activation == _SYNC0_ACTIVE and period == period_ns and start > now)
