"""A ring without sockets, a master that sends it single frames, and stub drives."""

import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

import pytest

from humanoid_devices_erob.protocol import coe, objects
from humanoid_devices_erob.protocol.frame import (
    Command,
    Datagram,
    decode_frame,
    encode_frame,
    physical,
)
from humanoid_devices_erob.protocol.mailbox import decode_mailbox, encode_mailbox
from humanoid_devices_erob.protocol.pdo import RX_BYTES, TX_BYTES
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.ethercat.coe.dictionary import Access, Entry, ObjectDictionary, TypeCode
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.ethercat.parameters import SlaveParameters
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.physics.plant import Plant
from humanoid_twin.scheduler import Scheduler

MILLISECOND = 1_000_000  # [ns]
CYCLE = MILLISECOND  # [ns] of SYNC0
FIRST_STATION = 0x1001


@dataclass
class StubDrive:
    """A firmware that records its calls."""

    states: list[AlState] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    losses: int = 0
    cycles: int = 0  # power cycles
    steps: int = 0
    values: dict[int, int] = field(default_factory=dict)
    latched: list[int] = field(default_factory=list)  # controlwords

    def __post_init__(self) -> None:
        self.dictionary = ObjectDictionary()
        kinds = {
            objects.CONTROLWORD: (TypeCode.U16, Access.RW),
            objects.TARGET_POSITION: (TypeCode.I32, Access.RW),
            objects.MODE: (TypeCode.I8, Access.RW),
            objects.STATUSWORD: (TypeCode.U16, Access.RO),
            objects.POSITION: (TypeCode.I32, Access.RO),
            objects.VELOCITY: (TypeCode.I32, Access.RO),
            objects.TORQUE: (TypeCode.I16, Access.RO),
            objects.ERROR_REGISTER: (TypeCode.U8, Access.RO),
            objects.ERROR_CODE: (TypeCode.U16, Access.RO),
        }
        for index, (kind, access) in kinds.items():
            self._add(index, kind, access)

    def _add(self, index: int, kind: TypeCode, access: Access) -> None:
        self.values[index] = 0

        def put(value: int | bytes) -> None:
            assert isinstance(value, int)
            self.values[index] = value
            if index == objects.CONTROLWORD:
                self.latched.append(value)

        entry = Entry(
            name=f"object {index:04X}", type=kind, access=access, pdo_mappable=True,
            get=lambda: self.values[index], set=put,
        )  # fmt: skip
        self.dictionary.add_variable(index, entry)

    def al_state_changed(self, state: AlState) -> None:
        self.states.append(state)

    def communication_fault(self, reason: str) -> None:
        self.faults.append(reason)
        self.values[objects.STATUSWORD] = 4616

    def outputs_lost(self) -> None:
        self.losses += 1

    def step(self, _seconds: float) -> None:
        self.steps += 1

    def keep_mode(self, mode: int) -> None:
        pass

    def weaken_battery(self) -> None:
        pass

    def change_battery(self) -> None:
        pass

    def raise_error(self, code: int) -> None:
        self.values[objects.ERROR_CODE] = code

    def power_cycle(self) -> None:
        self.cycles += 1


class StubPlant:
    """Joints that keep the positions of the test."""

    def __init__(self, count: int) -> None:
        self.position, self.velocity, self.load = [0.0] * count, [0.0] * count, [0.0] * count

    def step(self, _seconds: float) -> None:
        pass

    def set_state(self, joint: int, position: float, velocity: float) -> None:
        self.position[joint], self.velocity[joint] = position, velocity

    def set_external_torque(self, joint: int, torque: float) -> None:
        self.load[joint] = torque


class Master:
    """A minimal master for a ring in the same process."""

    def __init__(self, drives: list[StubDrive], parameters: SlaveParameters | None = None) -> None:
        simulated_time = SimulatedTime()
        self.ring, self.drives = VirtualRing(drives, simulated_time, parameters), drives
        self.world = Scheduler(cast(Plant, StubPlant(len(drives))), simulated_time)
        self.world.add(self.ring)
        self.count = len(drives)
        self.outputs = [(0, 0, 0)] * self.count
        self._counter = 0

    def send(self, *datagrams: Datagram) -> list[Datagram]:
        frame = bytearray(encode_frame(datagrams))
        assert self.ring.answer(memoryview(frame)), "no slave answers"
        return decode_frame(bytes(frame))

    def wait(self, seconds: float) -> None:
        self.world.advance(self.ring.now + round(seconds * 1e9))

    def read(self, slave: int, offset: int, length: int) -> Datagram:
        address = physical(FIRST_STATION + slave, offset)
        return self.send(Datagram(Command.FPRD, address, bytes(length)))[0]

    def number(self, slave: int, offset: int, length: int) -> int:
        found = self.read(slave, offset, length)
        assert found.counter == 1
        return int.from_bytes(found.data, "little")

    def write(self, slave: int, offset: int, data: bytes) -> int:
        address = physical(FIRST_STATION + slave, offset)
        return self.send(Datagram(Command.FPWR, address, data))[0].counter

    def al(self, slave: int) -> tuple[int, int]:
        """AL status and status code."""
        return struct.unpack("<H2xH", self.read(slave, 0x0130, 6).data)

    def request(self, state: int, slave: int | None = None) -> None:
        for one in range(self.count) if slave is None else [slave]:
            assert self.write(one, 0x0120, struct.pack("<H", state)) == 1
        self.wait(0.002)

    def number_slaves(self) -> None:
        for slave in range(self.count):
            address = physical(-slave, 0x0010)
            self.send(Datagram(Command.APWR, address, struct.pack("<H", FIRST_STATION + slave)))

    def set_mailboxes(self, slave: int) -> None:
        lines = struct.pack("<HHBBBBHHBBBB", 0x1000, 128, 0x26, 0, 1, 0, 0x1080, 128, 0x22, 0, 1, 0)
        assert self.write(slave, 0x0800, lines) == 1

    def set_process_data(self, slave: int, out: int = RX_BYTES, into: int = TX_BYTES) -> None:
        lines = struct.pack(
            "<HHBBBBHHBBBB", 0x1100, out, 0x64, 0, 1, 0, 0x1400, into, 0x20, 0, 1, 0
        )
        assert self.write(slave, 0x0810, lines) == 1
        first_input = self.count * out + slave * into
        for number, line in enumerate(
            [(slave * out, out, 0x1100, 2), (first_input, into, 0x1400, 1)]
        ):
            logical, length, start, kind = line
            fmmu = struct.pack("<IHBBHBBBxxx", logical, length, 0, 7, start, 0, kind, 1)
            assert self.write(slave, 0x0600 + 16 * number, fmmu) == 1

    def start_clock(self, slave: int, cycle: int = CYCLE) -> None:
        start = self.number(slave, 0x0910, 8) + 10 * MILLISECOND
        self.write(slave, 0x0990, struct.pack("<Q", start // cycle * cycle + cycle))
        self.write(slave, 0x09A0, struct.pack("<I", cycle))
        assert self.write(slave, 0x0980, b"\0\3") == 1

    def preop(self) -> None:
        self.number_slaves()
        for slave in range(self.count):
            self.set_mailboxes(slave)
        self.request(AlState.PREOP)

    def safeop(self, cycle: int = CYCLE) -> None:
        self.preop()
        for slave in range(self.count):
            self.set_process_data(slave)
            self.start_clock(slave, cycle)
        self.request(AlState.SAFEOP)

    def operational(self, cycle: int = CYCLE) -> None:
        self.safeop(cycle)
        for _ in range(320):
            self.exchange()
            self.wait(0.001)
        self.exchange()
        self.request(AlState.OP)
        self.exchange()

    def exchange(self) -> tuple[int, list[tuple[int, int, int, int]]]:
        """Send a process data frame. Return working counter and inputs of each slave."""
        image = b"".join(struct.pack("<Hibx", *line) for line in self.outputs)
        image += bytes(self.count * TX_BYTES)
        clock = Datagram(Command.FRMW, physical(FIRST_STATION, 0x0910), bytes(8))
        data, _ = self.send(Datagram(Command.LRW, 0, image), clock)
        inputs = [
            struct.unpack_from("<Hiih", data.data, self.count * RX_BYTES + slave * TX_BYTES)
            for slave in range(self.count)
        ]
        return data.counter, inputs

    def cycle(self, times: int, seconds: float = 0.001) -> None:
        """Exchange `times` times, and wait after each."""
        for _ in range(times):
            self.exchange()
            self.wait(seconds)

    def put_message(
        self, slave: int, payload: bytes, counter: int | None = None, kind: int = 3
    ) -> int:
        if counter is None:
            self._counter = self._counter % 7 + 1
            counter = self._counter
        message = encode_mailbox(payload, counter=counter, type=kind)
        return self.write(slave, 0x1000, message.ljust(128, b"\0"))

    def is_full(self, slave: int) -> bool:
        return bool(self.number(slave, 0x080D, 1) & 0x08)

    def get_message(self, slave: int) -> bytes | None:
        """Payload of the next message, None if there is none."""
        if not self.is_full(slave):
            return None
        return decode_mailbox(self.read(slave, 0x1080, 128).data)[1]

    def ask(self, slave: int, request: coe.Request) -> coe.Response:
        assert self.put_message(slave, request.encode()) == 1
        answer = self.get_message(slave)
        assert answer is not None, "no answer in the mailbox"
        return coe.decode_response(answer)


MakeMaster = Callable[..., Master]


@pytest.fixture(scope="session")
def new_master() -> MakeMaster:
    """Return a ring of stub drives with a master."""

    def make(slaves: int = 3, parameters: SlaveParameters | None = None) -> Master:
        drives = [StubDrive() for _ in range(slaves)]
        return Master(drives, parameters)

    return make


@pytest.fixture
def master(new_master: MakeMaster) -> Master:
    """Return a master with three slaves."""
    return new_master(3)
