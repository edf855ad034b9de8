"""The sync managers' watchdog of one slave (ESC data sheet, section I)."""

from typing import Final

from humanoid_twin.ethercat import registers as reg
from humanoid_twin.ethercat.esc import Esc

_TICK: Final = 40  # [ns]
_DIVIDER: Final = 0x09C2  # power-up values: 100 us, and 1000 of these
_PERIODS: Final = 1000


class Watchdog:
    """Expires when no process data have come for the time that its registers say (0: never)."""

    def __init__(self, esc: Esc) -> None:
        self._esc = esc
        for register in (reg.WATCHDOG_DIVIDER, reg.WATCHDOG_PROCESS_DATA):
            esc.on(register, 2, after_write=lambda _address, _data: self._load())
        self.power_up()

    def power_up(self) -> None:
        """Registers as after power-up."""
        self._esc.put(reg.WATCHDOG_DIVIDER, 2, _DIVIDER)
        self._esc.put(reg.WATCHDOG_PDI, 2, _PERIODS)
        self._esc.put(reg.WATCHDOG_PROCESS_DATA, 2, _PERIODS)
        self._show(fed=False)
        self._load()

    def expired(self, since: int) -> bool:
        """Whether it expires if the last process data came `since` [ns] ago."""
        expired = 0 < self._time < since
        if expired == self._fed:
            self._show(fed=not expired)
        return expired

    def _show(self, *, fed: bool) -> None:
        self._fed = fed
        self._esc.put(reg.WATCHDOG_STATUS, 2, fed)

    def _load(self) -> None:
        divider = self._esc.get(reg.WATCHDOG_DIVIDER, 2)
        self._time = (divider + 2) * _TICK * self._esc.get(reg.WATCHDOG_PROCESS_DATA, 2)  # [ns]
