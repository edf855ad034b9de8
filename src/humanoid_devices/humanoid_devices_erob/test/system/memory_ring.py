"""A virtual ring in this process: frames go through memory, one thread does all, time is stepped.

The stack above pysoem, its own frames and the whole ring are the real ones. What SOEM does while
the ring is set up is done here in its place. Runs repeat exactly.
"""

from __future__ import annotations

import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import Final, cast

import pysoem
from test_support.stepped_time import SteppedTime

from humanoid_devices_erob.errors import InterfaceError
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.raw_socket import RawDatagrams, RawSocket
from humanoid_devices_erob.wire.frame import Command, Datagram, decode_frame, encode_frame, physical
from humanoid_devices_erob.wire.pdo import RX_BYTES, TX_BYTES
from humanoid_twin import assumptions
from humanoid_twin.clock import Moment, SteppedClock
from humanoid_twin.erob.build import bench, build_robot, prime_arms
from humanoid_twin.ethercat.attach import RingServer
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.losses import Losses
from humanoid_twin.ethercat.port import PacketPort
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.scheduler import Scheduler

INIT_ACKNOWLEDGED, PREOP = 0x11, 2
_FIRST_STATION: Final = 0x1001
_TRIES: Final = 3  # of SOEM, for what sets the ring up
_STATION, _AL_CONTROL, _AL_STATUS = 0x0010, 0x0120, 0x0130
_FMMUS, _SYNC_MANAGERS, _PROCESS_DATA = 0x0600, 0x0800, 0x0810
_LATCH, _TIME, _LOCAL_TIME, _OFFSET = 0x0900, 0x0910, 0x0918, 0x0920
_SYNC, _SYNC_START, _SYNC_PERIOD = 0x0980, 0x0990, 0x09A0
_FIRST_SYNC: Final = 100_000_000  # [ns] SOEM: SYNCDELAY
_JOINTS: Final = {"arms": prime_arms, "bench": bench}
_CABLE: Final = 300  # [ns] from slave to slave


class MemoryRing(SteppedTime):
    """Drives, their ring, and the machine that drives it, with one thread for all.

    `control` is what the ring's control channel offers. A started thread runs while another one
    waits for its event, and for `turns` sleeps more; then it ends, as if it never ran again.
    """

    interface = "memory"

    def __init__(
        self, count: int, *, seed: int = 0, joints: str = "bench", assume: Sequence[str] = ()
    ) -> None:
        """`assume`: facts about the drives, each NAME=VALUE; `joints`: "bench" or "arms"."""
        facts = assumptions.assume(assume)
        turned = _JOINTS[joints](count)
        robot = build_robot([replace(joint, drive=facts.drive) for joint in turned])
        self.drives, self.count = robot.drives, count
        self._stepped, moment = SteppedClock(), Moment()
        self.world = Scheduler(robot.plant, moment)
        self.ring = VirtualRing(robot.drives, moment, facts.slave)
        self.world.add(self.ring)
        losses = Losses(Random(seed))
        self.control = RingCommands(self.ring, robot.plant, losses)
        self._port = _Port()
        port = cast(PacketPort, self._port)
        self._server = RingServer(self.ring, self.world, port, self._stepped, losses)
        self.on_frame: Callable[[bytes], None] = lambda _frame: None  # that has left the master
        self.turns = 0
        self._thread: MemoryThread | None = None
        self._event: threading.Event | None = None  # that is waited for
        self._left = 0  # of `turns`

    def clock(self) -> float:
        """See Machine: ring time."""
        return self.world.now / 1e9

    def advance(self, seconds: float) -> None:
        """See SteppedTime."""
        self.world.advance(self._stepped.advance(max(round(seconds * 1e9), 1000)))

    def start(self, name: str, run: Callable[[], None]) -> MemoryThread:
        """See Machine."""
        self._thread = MemoryThread(run)
        return self._thread

    def wait(self, event: threading.Event, seconds: float | None = None) -> bool:
        """See Machine."""
        if seconds is not None:
            return super().wait(event, seconds)
        assert self._thread is not None
        self._event, self._left = event, self.turns
        try:
            self._thread.run()
        except _NeverAgainError:
            pass
        finally:
            self._event = None
        return event.is_set()

    def sleep(self, seconds: float) -> None:
        """See Machine."""
        if self._event is not None and self._event.is_set():
            self._left -= 1
            if self._left < 0:
                raise _NeverAgainError
        super().sleep(seconds)

    def master(self, patience: float) -> MemoryMaster:
        """Return a master on this ring."""
        return MemoryMaster(patience, self)

    def pass_on(self, frame: bytes) -> list[bytes]:
        """A frame on its way through the slaves; what comes back."""
        self.on_frame(frame)
        port = self._port
        port.frame = memoryview(bytearray(frame))
        self._server.serve(True)
        answers, port.answers = port.answers, []
        return answers


class _NeverAgainError(BaseException):
    """The thread that sleeps ends."""


class MemoryThread:
    """A `Thread` that others run."""

    def __init__(self, run: Callable[[], None]) -> None:
        self.run = run

    def is_alive(self) -> bool:
        return False

    def join(self, timeout: float | None = None) -> None:
        """Return at once."""


class _Port:
    """The ring's end of the cable, in place of a PacketPort."""

    def __init__(self) -> None:
        self.frame: memoryview | None = None
        self.answers: list[bytes] = []

    def receive(self) -> memoryview | None:
        frame, self.frame = self.frame, None
        return frame

    def send(self, frame: memoryview | bytes) -> None:
        self.answers.append(bytes(frame))


class MemoryLine(RawSocket):
    """The master's end of the cable. From a process that is dead nothing leaves any more."""

    def __init__(self, ring: MemoryRing) -> None:
        self._ring, self._silence = ring, 0
        self._answers: deque[bytes] = deque()
        self.alive = True

    def ask(self, frame: bytes) -> list[bytes]:
        """For SOEM: its answers don't wait here."""
        if not self.alive:
            raise InterfaceError("this process is dead")
        return self._ring.pass_on(frame)

    def send(self, frame: bytes) -> None:
        self._answers.extend(self.ask(frame))

    def wait(self, seconds: float) -> bool:
        return bool(self._answers)

    @contextmanager
    def not_waiting(self) -> Iterator[None]:
        yield

    def drop(self) -> None:
        self._answers.clear()

    def receive(self) -> bytes:
        return self._answers.popleft() if self._answers else b""

    def close(self) -> None:
        self._answers.clear()


class MemoryMaster(EthercatMaster):
    """The stack's own master on a line in memory."""

    def __init__(self, patience: float, ring: MemoryRing) -> None:
        super().__init__(patience)
        self.ring = ring
        self.line = MemoryLine(ring)

    def open(self, interface: str) -> None:
        """Nothing else can have this interface."""
        self._master = Soem(self.line)
        self._socket = self.line
        self._datagrams = RawDatagrams(self.line, self._patience, self.ring)


class Soem:
    """What of a pysoem.Master the stack uses."""

    def __init__(self, line: MemoryLine) -> None:
        self.slaves: list[SoemSlave] = []
        self.state = 0
        self.manual_state_change = False
        self.dc_time = 0
        self._line = line
        self._answer: list[Datagram] = []

    @property
    def expected_wkc(self) -> int:
        return 3 * len(self.slaves)

    def close(self) -> None:
        self.slaves = []

    def ask(self, *asked: Datagram, tries: int = _TRIES) -> list[Datagram]:
        """All in one frame; counters are 0 if nothing comes back."""
        for _ in range(tries):
            for answer in self._line.ask(encode_frame(asked)):
                return decode_frame(answer)
        return list(asked)

    def write_all(self, address: int, data: bytes) -> int:
        return self.ask(Datagram(Command.BWR, physical(0, address), data))[0].counter

    def config_init(self, *, release_gil: bool) -> int:
        """All slaves to INIT, numbered, with mailboxes, and PREOP requested."""
        self.write_all(_AL_CONTROL, struct.pack("<H", INIT_ACKNOWLEDGED))
        for address, length in ((_FMMUS, 0x100), (_SYNC_MANAGERS, 0x80), (_SYNC + 1, 1)):
            self.write_all(address, bytes(length))
        found = self.ask(Datagram(Command.BRD, physical(0, _AL_STATUS), bytes(2)))[0].counter
        self.slaves = [SoemSlave(self, place) for place in range(found)]
        for slave in self.slaves:
            slave.set_up()
        return found

    def config_map(self) -> None:
        for slave in self.slaves:
            slave.map(len(self.slaves))

    def config_dc(self) -> bool:
        self.write_all(_LATCH, bytes(4))
        times = [int.from_bytes(slave.read(_LOCAL_TIME, 8), "little") for slave in self.slaves]
        for slave, time in zip(self.slaves, times, strict=True):
            offset = times[0] - time & (1 << 64) - 1
            slave.write(_OFFSET, struct.pack("<QI", offset, slave.place * _CABLE))
        return bool(self.slaves)

    def read_state(self) -> None:
        if not self.slaves:
            return
        asked = [it.reading(_AL_STATUS, 6) for it in self.slaves]
        for slave, answer in zip(self.slaves, self.ask(*asked), strict=True):
            status, slave.al_status = struct.unpack("<H2xH", answer.data)
            slave.state = status if answer.counter else 0

    def write_state(self) -> None:
        self.write_all(_AL_CONTROL, struct.pack("<H", self.state))

    def send_processdata(self) -> None:
        count = len(self.slaves)
        outputs = b"".join([slave.output for slave in self.slaves])
        image = Datagram(Command.LRW, 0, outputs + bytes(count * TX_BYTES))
        clock = Datagram(Command.FRMW, physical(_FIRST_STATION, _TIME), bytes(8))
        self._answer = self.ask(image, clock, tries=1)

    def receive_processdata(self, _timeout: int) -> int:
        image, clock = self._answer
        if not (image.counter or clock.counter):
            return -1
        self.dc_time = int.from_bytes(clock.data, "little")
        inputs = len(self.slaves) * RX_BYTES
        for slave in self.slaves:
            start = inputs + slave.place * TX_BYTES
            slave.input = image.data[start : start + TX_BYTES]
        return image.counter


class SoemSlave:
    """What of a pysoem.CdefSlave the stack uses."""

    def __init__(self, master: Soem, place: int) -> None:
        self.place = place
        self.state = self.al_status = 0
        self.output, self.input = bytes(RX_BYTES), bytes(TX_BYTES)
        self.man, self.id = 0x5A65726F, 0x00029252
        self._master, self._station = master, _FIRST_STATION + place

    def reading(self, address: int, length: int) -> Datagram:
        return Datagram(Command.FPRD, physical(self._station, address), bytes(length))

    def read(self, address: int, length: int) -> bytes:
        return self._master.ask(self.reading(address, length))[0].data

    def write(self, address: int, data: bytes) -> None:
        self._master.ask(Datagram(Command.FPWR, physical(self._station, address), data))

    def _fprd(self, address: int, length: int, _timeout: int) -> bytes:
        answer = self._master.ask(self.reading(address, length))[0]
        if not answer.counter:
            raise pysoem.WkcError
        return answer.data

    def write_state(self) -> None:
        self.write(_AL_CONTROL, struct.pack("<H", self.state))

    def set_up(self) -> None:
        number = physical(-self.place, _STATION)
        self._master.ask(Datagram(Command.APWR, number, struct.pack("<H", self._station)))
        lines = struct.pack("<HHBBBBHHBBBB", 0x1000, 128, 0x26, 0, 1, 0, 0x1080, 128, 0x22, 0, 1, 0)
        self.write(_SYNC_MANAGERS, lines)
        self.state = PREOP
        self.write_state()

    def map(self, count: int) -> None:
        out, into = RX_BYTES, TX_BYTES
        lines = struct.pack(
            "<HHBBBBHHBBBB", 0x1100, out, 0x64, 0, 1, 0, 0x1400, into, 0x20, 0, 1, 0
        )
        self.write(_PROCESS_DATA, lines)
        first_input = count * out + self.place * into
        for number, (logical, length, start, kind) in enumerate(
            ((self.place * out, out, 0x1100, 2), (first_input, into, 0x1400, 1))
        ):
            fmmu = struct.pack("<IHBBHBBBxxx", logical, length, 0, 7, start, 0, kind, 1)
            self.write(_FMMUS + 16 * number, fmmu)

    def dc_sync(self, on: bool, period: int) -> None:
        self.write(_SYNC, bytes(2))
        if not on:
            return
        now = int.from_bytes(self.read(_TIME, 8), "little") + _FIRST_SYNC
        self.write(_SYNC_START, struct.pack("<Q", now // period * period + period))
        self.write(_SYNC_PERIOD, struct.pack("<I", period))
        self.write(_SYNC, b"\0\3")
