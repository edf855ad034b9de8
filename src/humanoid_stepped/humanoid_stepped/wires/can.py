"""The CAN adapter of SocketCAN in memory, with the interface of the stack's Bus."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from humanoid_devices_can.bus.bus import (
    Bus,
    BusSettings,
    CanFrame,
    DataFrame,
    ErrorFrame,
    InvalidFrame,
    Received,
    check_identifier,
    foreign_frame,
)
from humanoid_devices_can.bus.confirmations import Confirmations
from humanoid_devices_can.bus.error_frames import BusEvent, ControllerState
from humanoid_devices_can.errors import AdapterLostError, InterfaceError, QueueFullError
from humanoid_stepped.scheduler import Flag
from humanoid_stepped.stepped_machine import SteppedMachine
from humanoid_twin.can.adapters import error_frames
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import ControllerReport
from humanoid_twin.can.frame import CanFrame as WireFrame

OPENING: Final = 0.01  # [s] from the opening of an adapter to the end of its set-up


class MemoryAdapter:
    """The host's end of a bus as SocketCAN has it: a short queue, and any number of sockets.

    `arrived` is called when a socket has received something.
    """

    def __init__(self, bus: VirtualCanBus, arrived: Callable[[], None]) -> None:
        self.controller = bus.attach(self._receive, on_report=self._on_report)
        self.controller.confirm = self._confirm
        self.bus, self._arrived = bus, arrived
        self.plugged = True
        self.occupied = False  # by another program: nothing opens it
        self._sockets: list[MemoryCanBus] = []

    @property
    def serial(self) -> None:
        """See HostAdapter."""
        return None

    def open(
        self, settings: BusSettings, machine: SteppedMachine, *, shared: bool = False
    ) -> MemoryCanBus:
        """Return a new socket of the process on `machine`. Raises InterfaceError."""
        del shared  # a socket is that of one process
        machine.sleep(OPENING)
        if not self.plugged:
            raise InterfaceError(f"{settings}: there is no such adapter")
        if self.occupied:
            raise InterfaceError(f"{settings}: another program uses it")
        socket = MemoryCanBus(self, settings, machine)
        self._sockets.append(socket)
        return socket

    def leave(self, socket: MemoryCanBus) -> None:
        """Remove a socket."""
        if socket in self._sockets:
            self._sockets.remove(socket)

    def unplug(self) -> None:
        """Take the adapter from the host."""
        self.plugged = False
        self.controller.set(powered=False)
        for socket in self._sockets:
            socket.lose()
        self._sockets.clear()

    def plug_in(self) -> None:
        """Give the adapter back."""
        self.plugged = True
        self.controller.set(powered=True)

    def _receive(self, frame: WireFrame, _now: int) -> None:
        self._sockets = [socket for socket in self._sockets if not socket.process.gone]
        for socket in self._sockets:
            socket.take(frame)
        self._wake()

    def _confirm(self, frame: WireFrame) -> None:
        """Report a frame that got through to the sockets."""
        if self.bus.now < self.controller.held_until:  # it was on the wire when that began
            self.bus.after_hold_up(self.controller, lambda _: self._confirm(frame))
            return
        for socket in self._sockets:
            if socket.confirming:
                socket.confirm(frame)
        self._wake()

    def _on_report(self, report: ControllerReport, _now: int) -> None:
        kind, data = error_frames.encode(report)
        for socket in self._sockets:
            socket.arrive(ErrorFrame(BusEvent(kind & 0x3FF), data))
        self._wake()

    def _wake(self) -> None:
        """Stop the virtual robot if a thread waits for what has arrived."""
        if any(socket.waits and socket.has_received for socket in self._sockets):
            self._arrived()


@dataclass(frozen=True, slots=True)
class _Sent:
    """A frame that the adapter has sent."""

    frame: WireFrame


class MemoryCanBus(Bus):
    """See Bus."""

    def __init__(
        self, adapter: MemoryAdapter, settings: BusSettings, machine: SteppedMachine
    ) -> None:
        self._adapter, self._settings, self._machine = adapter, settings, machine
        self.process = machine.process
        self._incoming: deque[Received | _Sent] = deque()
        self._arrived = Flag()
        self._lost = False
        self._confirmations, self.confirming = Confirmations(), False
        self.waits = False  # a thread, for what arrives

    @property
    def confirmed(self) -> float:  # type: ignore[override]  # it follows the adapter
        """See Bus."""
        return self._confirmations.until

    def set_confirming(self, on: bool) -> bool:
        """See Bus: as SocketCAN with the frames that the adapter has sent."""
        if on:
            self._confirmations = Confirmations()
        self.confirming = on
        return True

    def confirm(self, frame: WireFrame) -> None:
        """Take a frame that got through."""
        self._incoming.append(_Sent(frame))
        self._arrived.set()

    @property
    def has_received(self) -> bool:
        """Return whether something has arrived that was not taken."""
        return bool(self._incoming)

    def take(self, frame: WireFrame) -> None:
        """Take a frame of the bus."""
        data, settings = frame.requested is None, self._settings
        problem = foreign_frame(
            frame.identifier, extended=frame.extended, data=data, settings=settings
        )
        found = InvalidFrame(problem) if problem else DataFrame(frame.identifier, frame.data)
        self.arrive(found)

    def arrive(self, received: Received) -> None:
        """Take what the adapter hands over."""
        self._incoming.append(received)
        self._arrived.set()

    def lose(self) -> None:
        """Note that the adapter is lost."""
        self._lost = True
        self._arrived.set()

    def receive(self, timeout: float) -> Received | None:
        """See Bus."""
        self._check()
        if timeout > 0.0 and not self._incoming:  # otherwise a poll, in which no thread waits
            self._arrived.clear()
            self.waits = True
            self._machine.wait(self._arrived, timeout)
            self.waits = False
            self._check()
        while self._incoming:
            received = self._incoming.popleft()
            if not isinstance(received, _Sent):
                return received
            self._confirmations.confirm(received.frame)
        return None

    def send(self, frame: CanFrame) -> None:
        """See Bus."""
        self._check()
        controller, bus = self._adapter.controller, self._adapter.bus
        check_identifier(frame[0], self._settings)
        sent = WireFrame(*frame, extended=self._settings.extended)
        if not controller.full:
            if self.confirming:
                self._confirmations.given(sent, self._machine.clock())
            if controller.send(sent, bus.now):
                return
        raise QueueFullError(f"{self._settings}: the adapter's queue is full")

    def state(self) -> ControllerState:
        """See Bus: from error frames."""
        return ControllerState.ACTIVE

    def refused(self) -> int:
        """See Bus."""
        return 0

    def close(self) -> None:
        """See Bus."""
        self.lose()
        self._adapter.leave(self)

    def _check(self) -> None:
        if self._lost:
            raise AdapterLostError(f"{self._settings}: the adapter is gone: plug it in again")
