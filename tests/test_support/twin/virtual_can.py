"""The bus behind a channel of python-can's `virtual` interface, for tests in one process."""

import queue

import can
from can.interfaces.virtual import VirtualBus

from humanoid_twin.can.adapters import error_frames
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import ControllerReport
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.errors import CanError


class VirtualPort:
    """An adapter with error frames as in SocketCAN, which leaves bus-off by itself.

    The queue of the interface takes any number of frames, so a full queue of the adapter leads to
    an error frame only. For one thread; clients may be in others.
    """

    def __init__(self, bus: VirtualCanBus, channel: str) -> None:
        """Clients open `can.Bus(interface="virtual", channel=channel)`."""
        self._channel = channel
        self.controller = bus.attach(self._receive, on_report=self._on_report)
        self._line: VirtualBus | None = VirtualBus(channel)

    @property
    def serial(self) -> None:
        """See HostAdapter."""
        return None

    def serve(self, now: int) -> None:
        """Take the frames of clients at `now` [ns], to which the bus has been run."""
        while self._line is not None:
            try:
                message = self._line.queue.get_nowait()
            except queue.Empty:
                return
            self._take(message, now)

    def unplug(self) -> None:
        """Leave the bus and the channel: a virtual interface has no other sign of it."""
        self.controller.set(powered=False)
        if self._line is not None:
            self._line.shutdown()
            self._line = None

    def plug_in(self) -> None:
        """Join the bus again."""
        if self._line is None:
            self._line = VirtualBus(self._channel)
            self.controller.set(powered=True)

    def close(self) -> None:
        """Leave the channel."""
        self.unplug()

    def _take(self, message: can.Message, now: int) -> None:
        if message.is_error_frame:
            return
        requested = message.dlc if message.is_remote_frame else None
        data = b"" if message.is_remote_frame else bytes(message.data)
        try:
            frame = CanFrame(message.arbitration_id, data, message.is_extended_id, requested)
        except CanError:
            return  # CAN FD, which this adapter lacks
        self.controller.send(frame, now)

    def _receive(self, frame: CanFrame, now: int) -> None:
        self._send(
            can.Message(
                timestamp=now / 1e9,
                arbitration_id=frame.identifier,
                is_extended_id=frame.extended,
                is_remote_frame=frame.requested is not None,
                dlc=frame.length,
                data=frame.data or None,
            )
        )

    def _on_report(self, report: ControllerReport, now: int) -> None:
        kind, data = error_frames.encode(report)
        self._send(
            can.Message(
                timestamp=now / 1e9,
                arbitration_id=kind,
                is_extended_id=False,
                is_error_frame=True,
                data=data,
            )
        )

    def _send(self, message: can.Message) -> None:
        if self._line is not None:
            self._line.send(message)
