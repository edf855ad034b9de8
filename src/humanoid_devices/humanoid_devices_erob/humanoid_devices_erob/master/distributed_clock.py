"""Distributed clocks: check the slaves' clocks, and lock the master's phase to SYNC0."""

import struct
from collections.abc import Callable
from typing import Final, TypeAlias

# Address and length of registers.
SYSTEM_TIME: Final = (0x0910, 28)  # with the delay from the reference clock at 0x0928
TIME_DIFFERENCE: Final = (0x092C, 4)
SYNC_UNIT: Final = (0x0981, 35)  # activation, start time at 0x0990, period at 0x09A0

_SYSTEM_TIME: Final = struct.Struct("<Q16xI")
_SYNC_UNIT: Final = struct.Struct("<B14xQ8xI")
_SYNC0_ACTIVE: Final = 0x03  # cyclic operation, SYNC0
_SAME_TIME: Final = 1_000_000_000  # [ns] within which all clocks are read, one after another
_LONGEST_DELAY: Final = 1_000_000  # [ns] of a frame from the first slave to any other

Read: TypeAlias = Callable[[int, int, int], bytes]  # slave, address, length


def unset_clocks(count: int, read: Read) -> list[int]:
    """Return slaves with another time than the first, or an impossible delay along the line."""
    found = [_SYSTEM_TIME.unpack(read(slave, *SYSTEM_TIME)) for slave in range(count)]
    first, last_delay = found[0]
    unset = []
    for slave, (time, delay) in enumerate(found):
        if not (0 <= time - first < _SAME_TIME and last_delay <= delay < _LONGEST_DELAY):
            unset.append(slave)
        last_delay = delay
    return unset


def time_difference(data: bytes) -> int:
    """Return a clock's distance from the reference [ns], by TIME_DIFFERENCE (sign, magnitude)."""
    return int.from_bytes(data, "little") & 0x7FFFFFFF


def sync0_is_on(data: bytes, period_ns: int, now: int) -> bool:
    """Return whether SYNC_UNIT shows that SYNC0 fires with this period, from after `now` [ns]."""
    activation, start, period = _SYNC_UNIT.unpack(data)
    return bool(activation == _SYNC0_ACTIVE and period == period_ns and start > now)


# Shares of the phase error that are corrected per cycle: critically damped (integral = p² / 4),
# settled after about 60 cycles. Small: one late frame must not move the next.
PROPORTIONAL: Final = 0.1
INTEGRAL: Final = PROPORTIONAL**2 / 4
LARGEST: Final = 0.02  # of the period: largest change of one cycle
# Generous drift between two quartz clocks; limits the integral.
LARGEST_DRIFT: Final = 1e-3
PHASE: Final = 0.5  # of the period after SYNC0: farthest from both neighbours


class DcLock:
    """Proportional-integral control of the phase of the frames against SYNC0.

    SYNC0 fires at the multiples of its period on the distributed clock. The error is taken the
    short way around the wanted phase, so that frames never cross a SYNC0 while it settles.
    """

    def __init__(self, period_ns: int) -> None:
        """`period_ns`: from frame to frame; SYNC0's period, or an integer fraction of it."""
        self._period = period_ns
        self._drift = 0.0  # [ns] per cycle
        self._correction = 0.0  # [ns] not taken yet
        self.error = 0.0  # [s] that the latest frame was late

    def update(self, dc_time: int) -> None:
        """Take the time [ns] when a frame passed the reference clock."""
        period = self._period
        wanted = PHASE * period
        error = (dc_time % period - wanted + period / 2) % period - period / 2
        largest, drift = LARGEST * period, LARGEST_DRIFT * period
        self._drift = min(max(self._drift + INTEGRAL * error, -drift), drift)
        later = -(PROPORTIONAL * error + self._drift)
        self._correction = min(max(later, -largest), largest)
        self.error = error * 1e-9

    def take_correction(self) -> float:
        """Return the delay [s] of the next frame (negative: sooner), once."""
        correction, self._correction = self._correction, 0.0
        return correction * 1e-9
