"""Logical addressing: the FMMUs of all slaves, compiled once for each kind of datagram."""

from dataclasses import dataclass, field
from typing import Final

from humanoid_devices_erob.protocol.frame import Command
from humanoid_twin.ethercat.esc.process_data import ProcessData
from humanoid_twin.ethercat.esc.slave import Slave
from humanoid_twin.ethercat.esc.slave_chain import SlaveChain
from humanoid_twin.ethercat.esc.sync_manager import Fmmu, active_fmmus

_READING: Final = (Command.LRD, Command.LRW)
_WRITING: Final = (Command.LWR, Command.LRW)
_MOST_PLANS: Final = 64


@dataclass(frozen=True, slots=True)
class _Piece:
    """The bits of one FMMU that one datagram touches."""

    first: int  # bit of the datagram's data
    bits: int
    physical: int  # bit of the ESC's memory
    read: bool

    @property
    def aligned(self) -> bool:
        """True if these are whole bytes on both sides."""
        return not (self.first % 8 or self.bits % 8 or self.physical % 8)


@dataclass(slots=True)
class Plan:
    """The copies of one logical datagram between its data and the slaves' memories."""

    copies: list[tuple[bool, int, int, memoryview]] = field(default_factory=list)
    writers: list[ProcessData] = field(default_factory=list)  # get outputs
    counter: int = 0  # working counter of the copies
    bitwise: list[tuple[Slave, list[_Piece], int]] = field(default_factory=list)


class LogicalMemory:
    """Runs LRD, LWR and LRW with compiled plans."""

    def __init__(self, chain: SlaveChain) -> None:
        self._chain = chain
        self._plans: dict[tuple[int, int, int], Plan] = {}
        self.datagrams = 0  # so far

    def forget(self) -> None:
        """Drop the plans, after a change of FMMUs, sync managers, an AL state or the line."""
        self._plans.clear()

    def run(self, command: int, address: int, data: memoryview) -> int:
        """Exchange `data`. Return the increment of the working counter."""
        self.datagrams += 1
        key = command, address, len(data)
        plan = self._plans.get(key)
        if plan is None:
            if len(self._plans) >= _MOST_PLANS:
                self._plans.clear()
            plan = self._plans[key] = self._compile(command, address, len(data))
        for read, start, stop, memory in plan.copies:
            if read:
                data[start:stop] = memory
            else:
                memory[:] = data[start:stop]
        for process in plan.writers:
            process.received()
        counter = plan.counter
        for slave, pieces, written in plan.bitwise:
            counter += _exchange_bits(slave, pieces, written, data)
        return counter

    def _compile(self, command: int, address: int, length: int) -> Plan:
        plan = Plan()
        written = 2 if command == Command.LRW else 1
        for slave in self._chain.reachable:
            pieces = _pieces(active_fmmus(slave.esc), command, 8 * address, 8 * length)
            if all(_is_plain(slave, piece) for piece in pieces):
                _add_copies(plan, slave, pieces, written)
            else:
                plan.bitwise.append((slave, pieces, written))
        return plan


def _pieces(fmmus: list[Fmmu], command: int, start: int, bits: int) -> list[_Piece]:
    """Return the pieces of all FMMUs; a slave takes its outputs before it gives its inputs."""
    pieces = []
    for fmmu in fmmus:
        first = max(start, fmmu.logical_bit)
        stop = min(start + bits, fmmu.logical_bit + fmmu.bits)
        if first >= stop:
            continue
        physical = fmmu.physical_bit + first - fmmu.logical_bit
        if fmmu.reads and command in _READING:
            pieces.append(_Piece(first - start, stop - first, physical, True))
        if fmmu.writes and command in _WRITING:
            pieces.append(_Piece(first - start, stop - first, physical, False))
    return sorted(pieces, key=lambda piece: piece.read)


def _is_plain(slave: Slave, piece: _Piece) -> bool:
    """Return whether a piece is bytes of an enabled process data buffer only."""
    manager = slave.process.input_manager if piece.read else slave.process.output_manager
    start, stop = piece.physical // 8, (piece.physical + piece.bits) // 8
    inside = manager.start <= start and stop <= manager.stop
    return piece.aligned and inside and slave.process.enabled and manager.in_ram


def _add_copies(plan: Plan, slave: Slave, pieces: list[_Piece], written: int) -> None:
    memory = memoryview(slave.esc.memory)
    for piece in pieces:
        start, stop = piece.physical // 8, (piece.physical + piece.bits) // 8
        first = piece.first // 8
        plan.copies.append((piece.read, first, first + stop - start, memory[start:stop]))
        if not piece.read and stop == slave.process.output_manager.stop:
            plan.writers.append(slave.process)
    plan.counter += any(piece.read for piece in pieces)
    plan.counter += written * any(not piece.read for piece in pieces)


def _exchange_bits(slave: Slave, pieces: list[_Piece], written: int, data: memoryview) -> int:
    """Exchange single bits through the ESC's accesses, with their rights."""
    did_read = did_write = False
    for piece in pieces:
        address, offset = divmod(piece.physical, 8)
        length = (offset + piece.bits + 7) // 8
        if piece.read:
            found = slave.esc.read(address, length)
            if found is not None:
                value = int.from_bytes(found, "little") >> offset
                _put_bits(data, piece.first, piece.bits, value)
                did_read = True
        else:
            kept = bytearray(slave.esc.memory[address : address + length])
            if len(kept) == length:  # else beyond the memory
                _put_bits(memoryview(kept), offset, piece.bits, _get_bits(data, piece))
                did_write |= slave.esc.write(address, bytes(kept))
    return did_read + written * did_write


def _get_bits(data: memoryview, piece: _Piece) -> int:
    start, offset = divmod(piece.first, 8)
    stop = (piece.first + piece.bits + 7) // 8
    return int.from_bytes(data[start:stop], "little") >> offset & (1 << piece.bits) - 1


def _put_bits(data: memoryview, first: int, bits: int, value: int) -> None:
    start, offset = divmod(first, 8)
    stop = (first + bits + 7) // 8
    mask = (1 << bits) - 1 << offset
    merged = int.from_bytes(data[start:stop], "little") & ~mask | value << offset & mask
    data[start:stop] = merged.to_bytes(stop - start, "little")
