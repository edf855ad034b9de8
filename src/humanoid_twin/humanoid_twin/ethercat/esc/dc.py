"""Distributed clocks of one slave: time, convergence, SYNC0 (ESC data sheet, section I)."""

from collections.abc import Callable
from typing import Final

from humanoid_twin.clock import NEVER, SimulatedTime
from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.esc import Esc
from humanoid_twin.ethercat.parameters import Clocks

_CYCLIC_SYNC0: Final = 0x03
_LARGEST_DIFFERENCE: Final = (1 << 31) - 1  # [ns] that the register holds, beside its sign
_ROUNDING: Final = 1e-9  # relative, of hundreds of multiplications
_EPOCH: Final = 1_000_003  # [ns] by which the slaves' own times differ from each other


class DistributedClock:
    """The time of one slave and its SYNC0 signal.

    The difference to the reference clock falls by the same factor with each DC frame, from
    `first_difference` to `locked_below` in `frames_to_lock` frames; it starts again when the master
    writes the offset or resets the filter. Without DC frames for longer than `keeps_rate` it grows
    by `drift_ppm`, except for the reference clock. It doesn't move SYNC0.
    """

    def __init__(
        self,
        esc: Esc,
        parameters: Clocks,
        simulated_time: SimulatedTime,
        on_change: Callable[[bool], None],
    ) -> None:
        """`on_change` is called when SYNC0 is switched on or off from the wire."""
        self._esc = esc
        self._parameters = parameters
        self._simulated_time = simulated_time
        self._on_change = on_change
        self._fall: float = (parameters.locked_below / parameters.first_difference) ** (
            1 / parameters.frames_to_lock
        )
        self._position, self._count = 0, 1
        esc.on(reg.SYSTEM_TIME, 8, before_read=self._show_time)
        esc.on(reg.RECEIVE_TIME_PORT_0, 4, after_write=self._latch)
        esc.on(reg.SYSTEM_TIME_OFFSET, 8, after_write=self._restart)
        esc.on(reg.SPEED_COUNTER_START, 2, after_write=self._restart)
        esc.on(reg.SYSTEM_TIME_DIFFERENCE, 4, before_read=self._show_difference)
        esc.on(reg.SYNC_ACTIVATION, 1, after_write=self._activated)
        self.power_up()

    def power_up(self) -> None:
        """Start the local time at 0, with SYNC0 off."""
        self._reference = False  # of the latest DC frame
        self._restart(0, b"")
        self.active = False
        self.next_event = NEVER  # [ns] ring time of the next SYNC0
        self._cycle = 0  # [ns]
        self._born = self._simulated_time.now - _EPOCH * (self._position + 1)

    def place(self, position: int, count: int) -> None:
        """Set the slave's position among the `count` reachable slaves."""
        self._position, self._count = position, count

    @property
    def locked(self) -> bool:
        """True if the difference is below the drive's limit."""
        return self._drifted() <= self._parameters.locked_below * (1.0 + _ROUNDING)

    @property
    def difference(self) -> int:
        """Difference to the reference clock [ns]."""
        return min(round(self._drifted()), _LARGEST_DIFFERENCE)

    def dc_frame(self, *, reference: bool) -> None:
        """Converge by one frame of the reference clock; `reference`: it is this slave's."""
        self._reference = reference
        self._difference = self._drifted() * self._fall
        self._last_frame = self._simulated_time.now

    def _drifted(self) -> float:
        """Return the difference [ns], drift since the latest DC frame included."""
        without = self._simulated_time.now - self._last_frame - self._parameters.keeps_rate * 1e9
        if self._reference or without <= 0.0:
            return self._difference
        return self._difference + self._parameters.drift_ppm * 1e-6 * without

    @property
    def system_time(self) -> int:
        """The slave's copy of the system time [ns], 64 bits."""
        return (self._local() + self._esc.get(reg.SYSTEM_TIME_OFFSET, 8)) & (1 << 64) - 1

    @property
    def fires(self) -> bool:
        """True if SYNC0 fires: not if its start had passed at its activation."""
        return self.next_event < NEVER

    @property
    def cycle_valid(self) -> bool:
        """True if the drive can follow the SYNC0 period."""
        return self._cycle > 0 and self._cycle % self._parameters.cycle_step == 0

    def event_done(self) -> None:
        """Schedule the next SYNC0, a period later."""
        self.next_event += self._cycle

    def switch_off(self) -> None:
        """Switch SYNC0 off (fault injection), as the master would."""
        self._esc.put(reg.SYNC_ACTIVATION, 1, 0)
        self._activated(reg.SYNC_ACTIVATION, b"\0")

    def _local(self) -> int:
        return self._simulated_time.now - self._born

    def _show_time(self, _address: int, _length: int) -> bool:
        self._esc.put(reg.SYSTEM_TIME, 8, self.system_time)
        return True

    def _show_difference(self, _address: int, _length: int) -> bool:
        self._esc.put(reg.SYSTEM_TIME_DIFFERENCE, 4, self.difference)
        return True

    def _latch(self, address: int, _data: bytes) -> None:
        """Latch the receive times of a frame on its way to the end of the line and back."""
        delay, k, n = self._parameters.cable_delay, self._position, self._count
        forth = self._local() + k * delay
        back = self._local() + (2 * n - 1 - k) * delay if k + 1 < n else 0
        if address == reg.RECEIVE_TIME_PORT_0:
            self._esc.put(reg.RECEIVE_TIME_PORT_0, 4, forth)
            self._esc.put(reg.RECEIVE_TIME_PORT_0 + 4, 4, back)
            self._esc.put(reg.RECEIVE_TIME_PORT_0 + 8, 8, 0)
            self._esc.put(reg.RECEIVE_TIME_UNIT, 8, forth)

    def _restart(self, _address: int, _data: bytes) -> None:
        self._difference = float(self._parameters.first_difference)  # [ns] at `_last_frame`
        self._last_frame = self._simulated_time.now  # [ns] ring time of the latest DC frame

    def _activated(self, _address: int, _data: bytes) -> None:
        active = self._esc.get(reg.SYNC_ACTIVATION, 1) & _CYCLIC_SYNC0 == _CYCLIC_SYNC0
        if active == self.active:
            return
        self.active = active
        self._cycle = self._esc.get(reg.SYNC0_CYCLE, 4)
        ahead = self._esc.get(reg.SYNC0_START, 8) - self.system_time
        possible = active and ahead > 0 and self.cycle_valid
        self.next_event = self._simulated_time.now + ahead if possible else NEVER
        self._on_change(active)


class SyncSupervision:
    """Counts SYNC0 events without new process data: +3 each, -1 for one with them (ETG.1020)."""

    def __init__(self, parameters: Clocks) -> None:
        self._parameters = parameters
        self.errors = 0

    def event(self, *, fresh: bool) -> bool:
        """Count one SYNC0. Return whether the limit is exceeded; counting then starts again."""
        parameters = self._parameters
        if fresh:
            self.errors = max(0, self.errors - parameters.hit_refunds)
            return False
        self.errors += parameters.miss_costs
        if self.errors <= parameters.error_limit:
            return False
        self.errors = 0
        return True
