"""The line of slaves as the master's frames find it: order, cuts, power, station addresses."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from humanoid_twin.ethercat import registers as reg
from humanoid_twin.ethercat.slave import Slave

# DL status of a slave with ports 0 and 1 in use (ESC data sheet, register 0x0110).
_LINK_ON_BOTH = 0x5A33  # both open with communication, ports 2 and 3 closed
_END_OF_LINE = 0x5613  # port 1 closed too: frames turn back here


class Line:
    """Slaves in the order of their cables. Frames reach those before a cut or a dead one."""

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
        """While this is open, only the first `count` slaves take notice of a frame."""
        reachable, self._stations = self.reachable, None
        self.reachable = reachable[:count]
        try:
            yield
        finally:
            self.reachable, self._stations = reachable, None

    def count_damage(self, reached: int) -> None:
        """The ports behind the first `reached` slaves count a frame that was damaged there.

        It comes by port 0 of every slave, then, from the last one back, by port 1 of the others.
        The first port finds the damage, those after it see that it is known (ESC data sheet).
        """
        there = [(slave, 0) for slave in self.reachable]
        back = [(slave, 1) for slave in reversed(self.reachable[:-1])]
        for place, (slave, port) in enumerate((there + back)[reached:]):
            slave.esc.count_up(reg.DAMAGED_FRAMES + 2 * port if not place else reg.FORWARDED + port)

    def _link_lost(self, behind: int) -> None:
        """The slaves on both sides of a link that breaks count it."""
        for place, port in ((behind, 1), (behind + 1, 0)):
            if 0 <= place < len(self.slaves) and self.slaves[place].powered:
                self.slaves[place].esc.count_up(reg.LOST_LINKS + port)

    def swap(self, first: int, second: int) -> None:
        """Two slaves change places."""
        line = self.slaves
        line[first], line[second] = line[second], line[first]
        self.update()

    def update(self) -> None:
        """Find out again whom frames reach; after a change of power too."""
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
        """The reachable slaves with this station address."""
        if self._stations is None:
            self._stations = {}
            for slave in self.reachable:
                station = slave.esc.get(reg.STATION_ADDRESS, 2)
                self._stations.setdefault(station, []).append(slave)
        return self._stations.get(address, [])

    def at_position(self, address: int) -> list[Slave]:
        """The slave that an auto-increment address means, if there is one."""
        position = -address & 0xFFFF
        return self.reachable[position : position + 1]

    def _renumbered(self) -> None:
        self._stations = None
