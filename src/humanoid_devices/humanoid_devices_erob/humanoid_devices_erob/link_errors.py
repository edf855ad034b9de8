"""Errors that the slaves' ports have counted: they tell which cable or connector is bad.

A frame that is damaged on a link is counted as damaged by the port it comes in at, and as forwarded
by all ports behind it. Registers: ETG.1000.4, 0x0300 to 0x0313; each stays at 255.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

COUNTERS: Final = 0x0300, 20  # register and length
PERIOD: Final = 1.0  # [s] from one slave to the next
RECENT: Final = 60.0  # [s] for which a count that has risen is told
_PORTS: Final = 4
_FORWARDED: Final = 8  # offsets in the counters; damaged frames stand at 2 * port
_LOST_LINK: Final = 16


class Registers(Protocol):
    """What reads a slave's registers; see EthercatMaster."""

    def read(self, slave: int, address: int, length: int) -> bytes | None:
        """What is there; None without an answer."""


@dataclass(frozen=True, slots=True)
class PortErrors:
    """What one port has counted since its power came on, or another master cleared it."""

    damaged: int = 0  # frames that were damaged on its own link
    forwarded: int = 0  # frames that were damaged before
    lost_link: int = 0

    def __str__(self) -> str:
        return f"{self.damaged} damaged, {self.forwarded} forwarded, {self.lost_link} lost links"


def decode_counters(data: bytes) -> tuple[PortErrors, ...]:
    """Of all ports, from the registers as they are read."""
    return tuple(
        PortErrors(data[2 * port], data[_FORWARDED + port], data[_LOST_LINK + port])
        for port in range(_PORTS)
    )


class LinkErrors:
    """Reads one slave after the other. `look` by the thread that does the I/O, the rest by any."""

    def __init__(self, registers: Registers, clock: Callable[[], float], slaves: int) -> None:
        self._registers, self._clock = registers, clock
        self._found: list[tuple[PortErrors, ...]] = [()] * slaves
        self._risen: list[tuple[float, str]] = [(float("-inf"), "")] * slaves
        self._next, self._due = 0, clock()

    def look(self) -> None:
        """Ask the next slave, if it is time to: one datagram."""
        now = self._clock()
        if now < self._due or not self._found:
            return
        self._due = now + PERIOD
        slave, self._next = self._next, (self._next + 1) % len(self._found)
        data = self._registers.read(slave, *COUNTERS)
        if data is None:
            return
        before, found = self._found[slave], decode_counters(data)
        self._found[slave] = found
        risen = [_told(port, *pair) for port, pair in enumerate(zip(before, found, strict=False))]
        if any(risen):
            self._risen[slave] = now, "; ".join(filter(None, risen))

    def of(self, slave: int) -> tuple[PortErrors, ...]:
        """All ports of a slave; empty until it has been asked."""
        return self._found[slave]

    def news(self, slave: int) -> str:
        """What has risen in the last minute, in words; empty if nothing."""
        when, text = self._risen[slave]
        return text if self._clock() - when <= RECENT else ""


def _told(port: int, before: PortErrors, now: PortErrors) -> str:
    if now.damaged > before.damaged or now.lost_link > before.lost_link:
        return f"bad link at port {port} ({now}): check the cable and the connectors there"
    return ""
