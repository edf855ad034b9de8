"""Error counters of the slaves' ports, which show a bad cable or connector.

The port that receives a damaged frame counts it as damaged, all ports behind it as forwarded.
Registers: ETG.1000.4, 0x0300 to 0x0313; each stops at 255.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from humanoid_devices_erob.master.master import EthercatMaster

COUNTERS: Final = 0x0300, 20  # register and length
PERIOD: Final = 1.0  # [s] from one slave to the next
RECENT: Final = 60.0  # [s] for which a risen count is reported
LARGEST: Final = 255  # of a counter; it stops there
_PORTS: Final = 4
_FORWARDED: Final = 8  # offsets in the counters; damaged frames are at 2 * port
_LOST_LINK: Final = 16


@dataclass(frozen=True, slots=True)
class PortErrors:
    """Counters of one port since power-on, or since another master cleared them."""

    damaged: int = 0  # frames damaged on its own link
    forwarded: int = 0  # frames damaged on an earlier link
    lost_link: int = 0

    def __str__(self) -> str:
        return f"{self.damaged} damaged, {self.forwarded} forwarded, {self.lost_link} lost links"


def decode_counters(data: bytes) -> tuple[PortErrors, ...]:
    """Return the counters of all ports from the register bytes."""
    return tuple(
        PortErrors(data[2 * port], data[_FORWARDED + port], data[_LOST_LINK + port])
        for port in range(_PORTS)
    )


class LinkErrors:
    """Reads one slave after another. `poll` belongs to the I/O thread, the rest to any."""

    def __init__(self, master: EthercatMaster, clock: Callable[[], float], slaves: int) -> None:
        self._master, self._clock = master, clock
        self._found: list[tuple[PortErrors, ...]] = [()] * slaves
        self._risen: list[tuple[float, str]] = [(float("-inf"), "")] * slaves
        self._next, self._due = 0, clock()

    def poll(self) -> None:
        """Read the next slave's counters if they are due: one datagram."""
        now = self._clock()
        if now < self._due or not self._found:
            return
        self._due = now + PERIOD
        slave, self._next = self._next, (self._next + 1) % len(self._found)
        data = self._master.read(slave, *COUNTERS)
        if data is None:
            return
        before, found = self._found[slave], decode_counters(data)
        self._found[slave] = found
        risen = [_rise(port, *pair) for port, pair in enumerate(zip(before, found, strict=False))]
        if any(risen):
            self._risen[slave] = now, "; ".join(filter(None, risen))

    def of(self, slave: int) -> tuple[PortErrors, ...]:
        """Return the counters of a slave's ports; empty until they were read."""
        return self._found[slave]

    def recent(self, slave: int) -> str:
        """Return the counters that rose in the last minute, in words; empty if none."""
        when, text = self._risen[slave]
        return text if self._clock() - when <= RECENT else ""


def _rise(port: int, before: PortErrors, now: PortErrors) -> str:
    """Return the count of a bad link in words; empty if it has not risen.

    A count that has stopped is reported as long as it stands: it may rise.
    """
    pairs = (before.damaged, now.damaged), (before.lost_link, now.lost_link)
    if any(found > earlier or found == LARGEST for earlier, found in pairs):
        return f"bad link at port {port} ({now}): check the cable and the connectors there"
    return ""
