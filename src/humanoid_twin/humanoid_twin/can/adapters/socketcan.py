"""The bus behind a SocketCAN interface, usually a `vcan`."""

import errno
import socket
import struct
from typing import Final

from humanoid_twin.can.adapters import error_frames
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import ControllerReport
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.errors import AdapterError, CanError

_LAYOUT: Final = struct.Struct("=IB3x8s")  # struct can_frame (linux/can.h)
_EXTENDED, _REMOTE, _ERROR = 1 << 31, 1 << 30, 1 << 29


def encode(frame: CanFrame) -> bytes:
    """Return the frame as a `struct can_frame`."""
    remote = frame.requested is not None
    word = frame.identifier | (_EXTENDED if frame.extended else 0) | (_REMOTE if remote else 0)
    return _LAYOUT.pack(word, frame.length, frame.data)


def decode(packed: bytes) -> CanFrame | None:
    """Return the frame of a `struct can_frame`; None for an error frame or other than CAN 2.0."""
    if len(packed) != _LAYOUT.size:
        return None
    word, length, data = _LAYOUT.unpack(packed)
    if word & _ERROR:
        return None
    extended = bool(word & _EXTENDED)
    identifier = word & (0x1FFFFFFF if extended else 0x7FF)
    try:
        if word & _REMOTE:
            return CanFrame(identifier, b"", extended, length)
        return CanFrame(identifier, data[:length], extended)
    except CanError:
        return None


def open_interface(name: str) -> socket.socket:
    """Return a raw socket on a CAN interface. Raises AdapterError that names what is missing."""
    try:
        line = socket.socket(socket.AF_CAN, socket.SOCK_RAW, socket.CAN_RAW)
    except OSError as error:
        raise AdapterError(
            f"this kernel has no SocketCAN ({error.strerror}): 'modprobe can_raw vcan', or give a"
            " path, at which a serial line that speaks slcan will be"
        ) from error
    try:
        line.bind((name,))
    except OSError as error:
        line.close()
        raise AdapterError(
            f"CAN interface '{name}': {error.strerror}; 'ip link add {name} type vcan' and"
            f" 'ip link set {name} up' make one"
        ) from error
    return line


class SocketCanPort:
    """An adapter on an interface; it leaves bus-off by itself. Not for several threads at once.

    A `vcan` takes any number of frames, so a full queue leads to an error frame only, and it has no
    bit rate.
    """

    def __init__(self, bus: VirtualCanBus, line: socket.socket) -> None:
        """`line` is from `open_interface`, and closed with this port."""
        self._line = line
        self._line.setblocking(False)
        self.controller = bus.attach(self._receive, on_report=self._on_report)

    @property
    def serial(self) -> None:
        """See HostAdapter."""
        return None

    def fileno(self) -> int:
        """Return a descriptor that is readable when a client has sent."""
        return self._line.fileno()

    def serve(self, now: int) -> None:
        """Take the frames of clients at `now` [ns], to which the bus has been run.

        Raises AdapterError if the interface is down.
        """
        while True:
            try:
                packed = self._line.recv(_LAYOUT.size)
            except BlockingIOError:
                return
            except OSError as error:
                raise AdapterError(f"the CAN interface is gone: {error.strerror}") from error
            frame = decode(packed)
            if frame is not None:
                self.controller.send(frame, now)

    def hand_over(self) -> None:
        """Do nothing: the interface has had every frame at its time."""

    def unplug(self) -> None:
        """Off the bus; the interface itself stays."""
        self.controller.set(powered=False)

    def plug_in(self) -> None:
        """Join the bus again."""
        self.controller.set(powered=True)

    def close(self) -> None:
        """Leave the interface."""
        self.unplug()
        self._line.close()

    def _receive(self, frame: CanFrame, now: int) -> None:
        del now
        self._send(encode(frame))

    def _on_report(self, report: ControllerReport, now: int) -> None:
        del now
        kind, data = error_frames.encode(report)
        self._send(_LAYOUT.pack(kind | _ERROR, len(data), data))

    def _send(self, packed: bytes) -> None:
        try:
            self._line.send(packed)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.ENOBUFS, errno.ENETDOWN):
                raise AdapterError(f"the CAN interface is gone: {error.strerror}") from error
