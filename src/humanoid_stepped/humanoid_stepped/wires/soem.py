"""The part of SOEM that sends frames, for a master whose frames go through memory.

SOEM itself reads the machine's clock and blocks in its own socket. This part of it sends the same
datagrams in the same order; the stack above pysoem is the real one.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pysoem

from humanoid_devices_erob.protocol.frame import (
    Command,
    Datagram,
    decode_frame,
    encode_frame,
    physical,
)
from humanoid_devices_erob.protocol.pdo import RX_BYTES, TX_BYTES

INIT_ACKNOWLEDGED, PREOP = 0x11, 2
_FIRST_STATION: Final = 0x1001
_INDICES: Final = 16  # SOEM: EC_MAXBUF
_TRIES: Final = 3  # of SOEM, for what sets the ring up
_STATION, _AL_CONTROL, _AL_STATUS = 0x0010, 0x0120, 0x0130
_FMMUS, _SYNC_MANAGERS, _PROCESS_DATA = 0x0600, 0x0800, 0x0810
_LATCH, _TIME, _LOCAL_TIME, _OFFSET = 0x0900, 0x0910, 0x0918, 0x0920
_SYNC, _SYNC_START, _SYNC_PERIOD = 0x0980, 0x0990, 0x09A0
_FIRST_SYNC: Final = 100_000_000  # [ns] SOEM: SYNCDELAY
_CABLE: Final = 300  # [ns] from slave to slave

Ask = Callable[[bytes], list[bytes]]  # sends a frame; returns what comes back


class Soem:
    """The part of a pysoem.Master that the stack uses."""

    def __init__(self, ask: Ask) -> None:
        self.slaves: list[SoemSlave] = []
        self.state = 0
        self.manual_state_change = False
        self._ask = ask
        self._index = 0  # of the latest frame

    @property
    def expected_wkc(self) -> int:
        """See pysoem."""
        return 3 * len(self.slaves)

    def close(self) -> None:
        """See pysoem."""
        self.slaves = []

    def ask(self, *asked: Datagram, tries: int = _TRIES) -> list[Datagram]:
        """Send all in one frame; counters are 0 if nothing comes back."""
        for _ in range(tries):
            self._index = (self._index + 1) % _INDICES
            sent = [replace(it, index=self._index) for it in asked]
            for answer in self._ask(encode_frame(sent)):
                found = decode_frame(answer)
                if found[0].index == self._index and len(found) == len(sent):
                    return found
        return list(asked)

    def write_all(self, address: int, data: bytes) -> int:
        """Write a register of all slaves; return how many there are."""
        return self.ask(Datagram(Command.BWR, physical(0, address), data))[0].counter

    def config_init(self, *, release_gil: bool) -> int:
        """See pysoem: all slaves to INIT, numbered, with mailboxes, and PREOP requested."""
        del release_gil
        self.write_all(_AL_CONTROL, struct.pack("<H", INIT_ACKNOWLEDGED))
        for address, length in ((_FMMUS, 0x100), (_SYNC_MANAGERS, 0x80), (_SYNC + 1, 1)):
            self.write_all(address, bytes(length))
        found = self.ask(Datagram(Command.BRD, physical(0, _AL_STATUS), bytes(2)))[0].counter
        self.slaves = [SoemSlave(self, place) for place in range(found)]
        for slave in self.slaves:
            slave.set_up()
        return found

    def config_map(self) -> None:
        """See pysoem."""
        for slave in self.slaves:
            slave.map(len(self.slaves))

    def config_dc(self) -> bool:
        """See pysoem."""
        self.write_all(_LATCH, bytes(4))
        times = [int.from_bytes(slave.read(_LOCAL_TIME, 8), "little") for slave in self.slaves]
        for slave, time in zip(self.slaves, times, strict=True):
            offset = times[0] - time & (1 << 64) - 1
            slave.write(_OFFSET, struct.pack("<QI", offset, slave.place * _CABLE))
        return bool(self.slaves)

    def read_state(self) -> None:
        """See pysoem."""
        if not self.slaves:
            return
        asked = [it.reading(_AL_STATUS, 6) for it in self.slaves]
        for slave, answer in zip(self.slaves, self.ask(*asked), strict=True):
            status, slave.al_status = struct.unpack("<H2xH", answer.data)
            slave.state = status if answer.counter else 0

    def write_state(self) -> None:
        """See pysoem."""
        self.write_all(_AL_CONTROL, struct.pack("<H", self.state))


class SoemSlave:
    """The part of a pysoem.CdefSlave that the stack uses."""

    def __init__(self, master: Soem, place: int) -> None:
        self.place = place
        self.state = self.al_status = 0
        self.output, self.input = bytes(RX_BYTES), bytes(TX_BYTES)
        self.man, self.id = 0x5A65726F, 0x00029252
        self._master, self._station = master, _FIRST_STATION + place

    def reading(self, address: int, length: int) -> Datagram:
        """Return the request for a register."""
        return Datagram(Command.FPRD, physical(self._station, address), bytes(length))

    def read(self, address: int, length: int) -> bytes:
        """Return a register."""
        return self._master.ask(self.reading(address, length))[0].data

    def write(self, address: int, data: bytes) -> None:
        """Write a register."""
        self._master.ask(Datagram(Command.FPWR, physical(self._station, address), data))

    def _fprd(self, address: int, length: int, _timeout: int) -> bytes:
        answer = self._master.ask(self.reading(address, length))[0]
        if not answer.counter:
            raise pysoem.WkcError
        return answer.data

    def write_state(self) -> None:
        """See pysoem."""
        self.write(_AL_CONTROL, struct.pack("<H", self.state))

    def set_up(self) -> None:
        """Give the slave its number and its mailbox, and request PREOP."""
        number = physical(-self.place, _STATION)
        self._master.ask(Datagram(Command.APWR, number, struct.pack("<H", self._station)))
        lines = struct.pack("<HHBBBBHHBBBB", 0x1000, 128, 0x26, 0, 1, 0, 0x1080, 128, 0x22, 0, 1, 0)
        self.write(_SYNC_MANAGERS, lines)
        self.state = PREOP
        self.write_state()

    def map(self, count: int) -> None:
        """Set sync managers and FMMUs for the process data of `count` slaves."""
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
        """See pysoem."""
        self.write(_SYNC, bytes(2))
        if not on:
            return
        now = int.from_bytes(self.read(_TIME, 8), "little") + _FIRST_SYNC
        self.write(_SYNC_START, struct.pack("<Q", now // period * period + period))
        self.write(_SYNC_PERIOD, struct.pack("<I", period))
        self.write(_SYNC, b"\0\3")
