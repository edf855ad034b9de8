"""Datagrams of a frame, answered in place by the slaves of a line."""

from collections.abc import Callable
from functools import partial
from typing import Final

from humanoid_devices_erob.protocol.frame import (
    CIRCULATING,
    DATAGRAM_BYTES,
    DATAGRAM_HEADER,
    ETHERTYPE,
    HEADER_BYTES,
    LENGTH_MASK,
    MORE_FOLLOWS,
    PROTOCOL_DATAGRAMS,
    WORKING_COUNTER,
    Command,
)
from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.logical import LogicalMemory
from humanoid_twin.ethercat.esc.slave import Slave
from humanoid_twin.ethercat.esc.slave_chain import SlaveChain

_TYPE: Final = ETHERTYPE.to_bytes(2, "big")
_PASSED_BY_ESC: Final = 0x02  # bit that an ESC sets in the first byte of the source address
# Each slave on the way adds 1 to the position in these.
_COUNTED_ON: Final = frozenset(
    {Command.APRD, Command.APWR, Command.APRW, Command.BRD, Command.BWR, Command.BRW, Command.ARMW}
)
_Handler = Callable[[int, memoryview], int]


class Dispatcher:
    """Answers frames for the reachable slaves of a line. No frame makes it raise."""

    def __init__(self, chain: SlaveChain, logical: LogicalMemory) -> None:
        self._chain = chain
        position, station = chain.at_position, chain.at_station
        self._handlers: dict[int, _Handler] = {
            Command.APRD: lambda address, data: _read(position(address & 0xFFFF), address, data),
            Command.APWR: lambda address, data: _write(position(address & 0xFFFF), address, data),
            Command.APRW: lambda address, data: _swap(position(address & 0xFFFF), address, data),
            Command.FPRD: lambda address, data: _read(station(address & 0xFFFF), address, data),
            Command.FPWR: lambda address, data: _write(station(address & 0xFFFF), address, data),
            Command.FPRW: lambda address, data: _swap(station(address & 0xFFFF), address, data),
            Command.BRD: lambda address, data: _merge(chain.reachable, address, data),
            Command.BWR: lambda address, data: _write(chain.reachable, address, data),
            Command.BRW: lambda address, data: _swap(chain.reachable, address, data, _merge),
            Command.ARMW: lambda address, data: self._distribute(
                position(address & 0xFFFF), address, data
            ),
            Command.FRMW: lambda address, data: self._distribute(
                station(address & 0xFFFF), address, data
            ),
        }
        for command in (Command.LRD, Command.LWR, Command.LRW):
            self._handlers[command] = partial(logical.run, command)

    def answer(self, frame: memoryview) -> bool:
        """Pass a frame through the slaves, in place. Return False without reachable slaves.

        Frames that are no datagrams, and what follows a malformed datagram, pass unchanged.
        """
        if not self._chain.reachable:
            return False
        if len(frame) < HEADER_BYTES or frame[12:14] != _TYPE:
            return True
        frame[6] |= _PASSED_BY_ESC
        header = frame[14] | frame[15] << 8
        end = HEADER_BYTES + (header & LENGTH_MASK)
        if header >> 12 == PROTOCOL_DATAGRAMS and end <= len(frame):
            self._datagrams(frame, end)
        return True

    def _datagrams(self, frame: memoryview, end: int) -> None:
        position, flags = HEADER_BYTES, MORE_FOLLOWS
        while flags & MORE_FOLLOWS and position + DATAGRAM_BYTES <= end:
            command, _, address, flags, _ = DATAGRAM_HEADER.unpack_from(frame, position)
            start = position + DATAGRAM_HEADER.size
            stop = start + (flags & LENGTH_MASK)
            if stop + WORKING_COUNTER.size > end or flags & CIRCULATING:
                return
            handler = self._handlers.get(command)
            if handler is not None:
                added = handler(address, frame[start:stop])
                counter = WORKING_COUNTER.unpack_from(frame, stop)[0] + added
                WORKING_COUNTER.pack_into(frame, stop, counter & 0xFFFF)
            if command in _COUNTED_ON:
                passed = (address + len(self._chain.reachable)) & 0xFFFF
                WORKING_COUNTER.pack_into(frame, position + 2, passed)
            position = stop + WORKING_COUNTER.size

    def _distribute(self, sources: list[Slave], address: int, data: memoryview) -> int:
        """Read from one slave and write to all others; with the system time it is a DC frame."""
        if not sources:
            return 0
        offset = address >> 16
        if offset == reg.SYSTEM_TIME and len(data) in (4, 8):
            data[:] = sources[0].clock.system_time.to_bytes(8, "little")[: len(data)]
            for slave in self._chain.reachable:
                slave.clock.dc_frame(reference=slave is sources[0])
            return len(self._chain.reachable)
        counter = _read(sources, address, data)
        others = [slave for slave in self._chain.reachable if slave not in sources]
        return counter + _write(others, address, data)


def _read(slaves: list[Slave], address: int, data: memoryview) -> int:
    """Read into `data`; of several slaves with one address the last one overwrites the others."""
    counter = 0
    for slave in slaves:
        found = slave.esc.read(address >> 16, len(data))
        if found is not None:
            data[:] = found
            counter += 1
    return counter


def _merge(slaves: list[Slave], address: int, data: memoryview) -> int:
    """Combine the bytes of all slaves and the content of `data` by OR (ETG.1000.4, BRD)."""
    counter = 0
    for slave in slaves:
        found = slave.esc.read(address >> 16, len(data))
        if found is not None:
            merged = int.from_bytes(data, "little") | int.from_bytes(found, "little")
            data[:] = merged.to_bytes(len(data), "little")
            counter += 1
    return counter


def _write(slaves: list[Slave], address: int, data: memoryview) -> int:
    written = bytes(data)
    return sum(slave.esc.write(address >> 16, written) for slave in slaves)


def _swap(
    slaves: list[Slave],
    address: int,
    data: memoryview,
    read: Callable[[list[Slave], int, memoryview], int] = _read,
) -> int:
    counter, written = 0, bytes(data)
    for slave in slaves:
        counter += read([slave], address, data) + 2 * slave.esc.write(address >> 16, written)
    return counter
