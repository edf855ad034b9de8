"""The serial CAN adapter (slcan) behind a line in memory, for the stack's own classes."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from typing import Final

from humanoid_devices_can.bus.bus import Bus, BusSettings
from humanoid_devices_can.bus.opening import open_bus
from humanoid_stepped.scheduler import Flag, Process
from humanoid_stepped.stepped_machine import SteppedMachine
from humanoid_stepped.wires.can import OPENING
from humanoid_twin.can.adapters.lawicel import LawicelAdapter
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import CanController

USB_FRAME: Final = 1_000_000  # [ns] from one delivery to the host to the next
OUTGOING: Final = 4096  # [bytes] that the line holds for the adapter, as a tty of Linux
INCOMING: Final = 65_536  # [bytes] that it holds for the host
CHUNK: Final = 4096  # [bytes] of one read


class SerialLine:
    """The bytes for the host, from plugging the adapter in until it is unplugged.

    All processes that have opened the line take bytes from it, as from a terminal device.
    """

    def __init__(self) -> None:
        self.arriving = bytearray()  # sent by the adapter, and on the way
        self.received = bytearray()
        self.readable = Flag()  # there are bytes, or the line is lost
        self.lost = False
        self.waiting: list[Process] = []  # for bytes


class SerialAdapter:
    """A serial adapter that the host opens with its own classes.

    `arrived` is called when bytes have reached a host that waits for them.
    """

    def __init__(self, bus: VirtualCanBus, arrived: Callable[[], None]) -> None:
        self.bus, self._arrived = bus, arrived
        self.serial = LawicelAdapter(bus, self._write)
        self.plugged = True
        self.occupied = False  # by another program: nothing opens it
        self.capacity = OUTGOING  # [bytes] that the line holds for the adapter
        self.rate = 0  # [bytes/ms] that the adapter takes; 0: all at once
        self._outgoing = bytearray()
        self._delivers = False  # a later delivery of `_outgoing` is planned
        self._line = SerialLine()

    @property
    def controller(self) -> CanController:
        """The adapter's node."""
        return self.serial.controller

    def open(self, settings: BusSettings, machine: SteppedMachine, *, shared: bool = False) -> Bus:
        """Open the bus for the process on `machine`; `shared`: as its guard does.

        Raises InterfaceError.
        """
        machine.sleep(OPENING)
        return open_bus(settings, machine, partial(self._open_port, machine=machine), shared=shared)

    def unplug(self) -> None:
        """Take the adapter from the host."""
        self.plugged = False
        self.controller.set(powered=False)
        self.serial.forget_line()
        self._outgoing.clear()
        line, self._line = self._line, SerialLine()
        line.lost = True
        line.readable.set()

    def plug_in(self) -> None:
        """Give the adapter back, with a closed channel."""
        self.plugged = True

    def take(self, data: bytes | bytearray) -> int:
        """Take what the line accepts now of the host's bytes; return how many."""
        accepted = data[: max(self.capacity - len(self._outgoing), 0)]
        self._outgoing += accepted
        if not self._delivers:
            self._deliver(self.bus.now)
        return len(accepted)

    def _open_port(self, _channel: str, *, machine: SteppedMachine) -> MemoryPort:
        if not self.plugged:
            raise OSError(errno.ENOENT, os.strerror(errno.ENOENT))
        if self.occupied:
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        self._line.received.clear()  # as pyserial does
        return MemoryPort(self, self._line, machine)

    def _deliver(self, now: int) -> None:
        """Hand the host's bytes to the adapter, as far as it takes them."""
        self._delivers = False
        part = bytes(self._outgoing[: self.rate or None])
        del self._outgoing[: len(part)]
        if part:
            self.serial.feed(part, now)
        if self._outgoing:
            self._delivers = True
            self.bus.call_at(now + USB_FRAME, self._deliver)

    def _write(self, data: bytes) -> bool:
        """See LawicelAdapter: the bytes reach the host with the next USB frame."""
        line = self._line
        if len(line.arriving) + len(line.received) + len(data) > INCOMING:
            return False
        if not line.arriving:
            end = (self.bus.now // USB_FRAME + 1) * USB_FRAME
            self.bus.call_at(end, lambda _now: self._hand_over(line))
        line.arriving += data
        return True

    def _hand_over(self, line: SerialLine) -> None:
        line.received += line.arriving
        line.arriving.clear()
        line.readable.set()
        if any(not process.gone for process in line.waiting):
            self._arrived()


class MemoryPort:
    """A port of one process. See SerialPort."""

    def __init__(self, adapter: SerialAdapter, line: SerialLine, machine: SteppedMachine) -> None:
        self._adapter, self._line, self._machine = adapter, line, machine
        self._closed = False

    def write(self, data: bytes | bytearray) -> int:
        """See SerialPort."""
        self._check()
        if self._line.lost:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self._adapter.take(data)

    def read(self) -> bytes | None:
        """See SerialPort."""
        self._check()
        line = self._line
        if line.lost:
            return b""
        if not line.received:
            return None
        data = bytes(line.received[:CHUNK])
        del line.received[:CHUNK]
        if not line.received:
            line.readable.clear()
        return data

    def is_readable(self, timeout: float) -> bool:
        """See SerialPort."""
        self._check()
        line = self._line
        if timeout > 0.0 and not line.readable.is_set():  # otherwise a poll: no thread waits
            line.waiting.append(self._machine.process)
            self._machine.wait(line.readable, timeout)
            line.waiting.remove(self._machine.process)
            self._check()
        return line.readable.is_set()

    def close(self) -> None:
        """See SerialPort."""
        self._closed = True

    def _check(self) -> None:
        # A process that was killed does nothing more, whatever of it Python still unwinds.
        if self._closed or self._machine.process.gone:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
