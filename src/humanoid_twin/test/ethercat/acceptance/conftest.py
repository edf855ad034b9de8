"""Unmodified pysoem with a ring process."""

import struct
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import ModuleType
from typing import Any, Unpack

import pytest

from humanoid_twin.errors import VethError
from humanoid_twin.testing import Ring, RingOptions, ring

RX_LINES = (0x60400010, 0x607A0020, 0x60600008, 0x00000008)
TX_LINES = (0x60410010, 0x60640020, 0x606C0020, 0x60770010)


class SoemMaster:
    """pysoem on a virtual ring with a stepped clock, used as by any program."""

    def __init__(self, ring: Ring, pysoem: ModuleType, stepped: bool) -> None:
        self.ring, self.pysoem, self.stepped = ring, pysoem, stepped
        pysoem.settings.timeouts.ret = 20_000  # [us]
        self.soem = pysoem.Master()
        self.soem.open(ring.interface)
        self.soem.sdo_read_timeout = self.soem.sdo_write_timeout = 1_000_000  # [us]

    @property
    def slaves(self) -> list[Any]:
        """Return the slaves of pysoem, which has no types."""
        return list(self.soem.slaves)

    def find(self) -> int:
        count = int(self.soem.config_init())
        assert self.state(self.pysoem.PREOP_STATE) == self.pysoem.PREOP_STATE
        return count

    def state(self, wanted: int) -> int:
        """Return the combined state of all slaves after some ring time."""
        self._pass(0.002)
        return int(self.soem.state_check(wanted, 50_000))

    def _pass(self, seconds: float) -> None:
        if self.stepped:
            self.ring.control.advance(seconds)

    def request(self, state: int) -> int:
        self.soem.state = state
        self.soem.write_state()
        return self.state(state)

    def configure(self, cycle: float = 0.001) -> int:
        """Map process data and start SYNC0; return the size of the process image."""
        for slave in self.slaves:
            slave.config_func = self._map
        self.soem.manual_state_change = True
        size = int(self.soem.config_map())
        self.soem.config_dc()
        for slave in self.slaves:
            slave.dc_sync(True, round(cycle * 1e9))
        return size

    def _map(self, position: int) -> None:
        slave = self.slaves[position]
        for assignment, pdo, lines in ((0x1C12, 0x1600, RX_LINES), (0x1C13, 0x1A00, TX_LINES)):
            slave.sdo_write(assignment, 0, bytes(1))
            slave.sdo_write(pdo, 0, bytes(1))
            for number, line in enumerate(lines, 1):
                slave.sdo_write(pdo, number, struct.pack("<I", line))
            slave.sdo_write(pdo, 0, struct.pack("<H", len(lines)))  # 16 bits, as the vendor does
            slave.sdo_write(assignment, 1, struct.pack("<H", pdo))
            slave.sdo_write(assignment, 0, bytes([1]))

    def exchange(self) -> int:
        self.soem.send_processdata()
        return int(self.soem.receive_processdata(50_000))

    def cycle(self, times: int, controlword: int = 0, seconds: float = 0.001) -> int:
        """Exchange and let time pass, `times` times; return the last working counter."""
        counter = 0
        for _ in range(times):
            for slave in self.slaves:
                position = struct.unpack_from("<i", slave.input, 2)[0]
                slave.output = struct.pack("<Hibx", controlword, position, 8)
            counter = self.exchange()
            self._pass(seconds)
        return counter

    def operational(self) -> None:
        self.find()
        self.configure()
        assert self.request(self.pysoem.SAFEOP_STATE) == self.pysoem.SAFEOP_STATE
        self.cycle(320)
        assert self.request(self.pysoem.OP_STATE) == self.pysoem.OP_STATE

    def enable(self) -> None:
        for controlword in (0x80, 0x06, 0x07, 0x0F):
            self.cycle(3, controlword)

    def inputs(self) -> list[tuple[int, int, int, int]]:
        return [struct.unpack("<Hiih", slave.input) for slave in self.slaves]

    def close(self) -> None:
        self.soem.close()


@pytest.fixture
def make_soem() -> Iterator[Callable[..., SoemMaster]]:
    """Start a virtual ring and open it with pysoem. Skips where no veth pair can be made."""
    pysoem = pytest.importorskip("pysoem", reason="pysoem is not installed")
    with ExitStack() as cleanup:

        def make(slaves: int = 10, **options: Unpack[RingOptions]) -> SoemMaster:
            options.setdefault("clock", "stepped")
            try:
                found = cleanup.enter_context(ring(slaves, **options))
            except VethError as error:
                pytest.skip(str(error))
            master = SoemMaster(found, pysoem, options["clock"] == "stepped")
            cleanup.callback(master.close)
            return master

        yield make
