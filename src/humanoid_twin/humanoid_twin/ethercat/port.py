"""The ring's end of an Ethernet cable: a raw socket for EtherCAT frames, and their capture."""

import fcntl
import socket
import time
from pathlib import Path
from struct import Struct
from typing import Final

from humanoid_devices_erob.protocol.frame import ETHERTYPE
from humanoid_twin.errors import RingError

# Linux numbers that Python has no names for (linux/sockios.h, linux/if_packet.h, socket.h).
_TIME_OF_LAST_FRAME: Final = 0x8907  # SIOCGSTAMPNS on 64-bit machines
_SOL_PACKET, _IGNORE_OUTGOING = 263, 23
_RECEIVE_BUFFER_FORCE: Final = 33
_BUFFER_BYTES: Final = 1 << 22
_LONGEST: Final = 9216  # [bytes] of a jumbo frame
_TIMESPEC: Final = Struct("@qq")


class PacketPort:
    """Receives into one buffer, in which frames are answered."""

    def __init__(self, interface: str) -> None:
        """Open the interface. Raises RingError without the interface or the right to use it."""
        self._interface = interface
        self._buffer = memoryview(bytearray(_LONGEST))
        self._stamp = bytearray(_TIMESPEC.size)
        try:
            self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
        except PermissionError as error:
            raise RingError("raw sockets need root or the capability CAP_NET_RAW") from error
        try:
            self._socket.bind((interface, ETHERTYPE))
        except OSError as error:
            self._socket.close()
            raise RingError(f"can't answer on '{interface}': {error.strerror}") from error
        self._socket.setblocking(False)
        self._tune()

    def _tune(self) -> None:
        self._socket.setsockopt(_SOL_PACKET, _IGNORE_OUTGOING, 1)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, _RECEIVE_BUFFER_FORCE, _BUFFER_BYTES)
        except PermissionError:  # without CAP_NET_ADMIN the default of 160 frames stays
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
        self.age()  # from the first call on, the kernel stamps frames

    def fileno(self) -> int:
        """For select."""
        return self._socket.fileno()

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()

    def receive(self) -> memoryview | None:
        """Return the next frame, valid until the next call; None without one.

        Raises RingError if the interface is gone.
        """
        try:
            length = self._socket.recv_into(self._buffer)
        except BlockingIOError:
            return None
        except OSError as error:
            self._check(error)
            return None
        return self._buffer[:length]

    def age(self) -> int:
        """Return the time since the kernel received the last frame [ns]; 0 if unknown."""
        try:
            fcntl.ioctl(self._socket, _TIME_OF_LAST_FRAME, self._stamp)
        except OSError:
            return 0
        seconds, nanoseconds = _TIMESPEC.unpack(self._stamp)
        age = time.time_ns() - seconds * 1_000_000_000 - nanoseconds
        return age if 0 < age < 1_000_000_000 else 0  # else the system clock was set

    def send(self, frame: memoryview | bytes) -> None:
        """Send a frame, or lose it. Raises RingError if the interface is gone."""
        try:
            self._socket.send(frame)
        except OSError as error:
            self._check(error)

    def _check(self, error: OSError) -> None:
        """Raise RingError if the interface is gone; one that is down only loses frames."""
        try:
            socket.if_nametoindex(self._interface)
        except OSError:
            raise RingError(f"interface '{self._interface}' is gone") from error


HEADER: Final = Struct("<IHHiIII")
RECORD: Final = Struct("<IIII")
_NANOSECONDS: Final = 0xA1B23C4D  # magic number of a pcap file with nanoseconds
_ETHERNET: Final = 1
SECOND: Final = 1_000_000_000


class Capture:
    """Writes frames in the order of their arrival; `flush` makes them visible to readers."""

    def __init__(self, path: Path) -> None:
        """Make the file, or write into a pipe. Raises RingError, also if the file exists."""
        try:
            self._file = path.open("wb" if path.is_fifo() else "xb")
        except FileExistsError:
            raise RingError(
                f"capture '{path}' exists already: remove it, or give another name"
            ) from None
        except OSError as error:
            raise RingError(f"capture '{path}' cannot be written: {error.strerror}") from error
        self._file.write(HEADER.pack(_NANOSECONDS, 2, 4, 0, 0, 0xFFFF, _ETHERNET))

    def add(self, now: int, frame: memoryview | bytes) -> None:
        """Write a frame at ring time `now` [ns]."""
        seconds, nanoseconds = divmod(now, SECOND)
        self._file.write(RECORD.pack(seconds, nanoseconds, len(frame), len(frame)))
        self._file.write(frame)

    def flush(self) -> None:
        """Write out the buffer."""
        self._file.flush()

    def close(self) -> None:
        """Write out the buffer and close the file."""
        self._file.close()
