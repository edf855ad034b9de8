"""The line of slaves in the order of the cable, with cuts, power and station addresses."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.slave import Slave

# DL status of a slave with ports 0 and 1 in use (ESC data sheet, register 0x0110).
_LINK_ON_BOTH = 0x5A33  # both open with communication, ports 2 and 3 closed
_END_OF_LINE = 0x5613  # port 1 closed too: frames turn back here


class SlaveChain:
    """Slaves in the order of the cable. Frames reach those before a cut or one without power."""

    def __init__(self, slaves: Sequence[Slave]) -> None:
        self.slaves = list(slaves)
        self._cut: int | None = None  # number of slaves before the cut
        self.reachable: list[Slave] = []
        self._stations: dict[int, list[Slave]] | None = None
        for slave in self.slaves:
            slave.esc.on(reg.STATION_ADDRESS, 4, after_write=lambda _a, _d: self._renumbered())
        self.update()

    def cut(self, after: int | None) -> None:
        """Cut the cable behind slave `after` (-1: before the first); None mends it."""
        if after is not None and self._cut != after + 1:
            self._link_lost(after)
        self._cut = None if after is None else after + 1
        self.update()

    @contextmanager
    def only(self, count: int) -> Iterator[None]:
        """Restrict frames to the first `count` reachable slaves, for the time of a context."""
        reachable, self._stations = self.reachable, None
        self.reachable = reachable[:count]
        try:
            yield
        finally:
            self.reachable, self._stations = reachable, None

    def count_damage(self, reached: int) -> None:
        """Count a frame that was damaged behind the first `reached` slaves, at all later ports.

        A frame passes port 0 of every slave, then port 1 of the others, from the last one back.
        The first port finds the damage, later ones see a known one (ESC data sheet).
        """
        there = [(slave, 0) for slave in self.reachable]
        back = [(slave, 1) for slave in reversed(self.reachable[:-1])]
        for place, (slave, port) in enumerate((there + back)[reached:]):
            slave.esc.count_up(reg.DAMAGED_FRAMES + 2 * port if not place else reg.FORWARDED + port)

    def _link_lost(self, behind: int) -> None:
        """Count a broken link in the slaves on both sides."""
        for place, port in ((behind, 1), (behind + 1, 0)):
            if 0 <= place < len(self.slaves) and self.slaves[place].powered:
                self.slaves[place].esc.count_up(reg.LOST_LINKS + port)

    def swap(self, first: int, second: int) -> None:
        """Exchange the places of two slaves."""
        line = self.slaves
        line[first], line[second] = line[second], line[first]
        self.update()

    def update(self) -> None:
        """Find the reachable slaves again, after a change of the line or of power."""
        reachable = []
        for slave in self.slaves[: self._cut]:
            if not slave.powered:
                break
            reachable.append(slave)
        self.reachable = reachable
        self._stations = None
        for position, slave in enumerate(reachable):
            last = position + 1 == len(reachable)
            slave.esc.put(reg.DL_STATUS, 2, _END_OF_LINE if last else _LINK_ON_BOTH)
            slave.clock.place(position, len(reachable))

    def at_station(self, address: int) -> list[Slave]:
        """Return the reachable slaves with a station address."""
        if self._stations is None:
            self._stations = {}
            for slave in self.reachable:
                station = slave.esc.get(reg.STATION_ADDRESS, 2)
                self._stations.setdefault(station, []).append(slave)
        return self._stations.get(address, [])

    def at_position(self, address: int) -> list[Slave]:
        """Return the slave at an auto-increment address, if there is one."""
        position = -address & 0xFFFF
        return self.reachable[position : position + 1]

    def _renumbered(self) -> None:
        self._stations = None
