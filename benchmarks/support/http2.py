"""A minimal HTTP/2 client for gRPC calls: it takes little time, and can end a call at any byte.

It has one thread and one socket; headers are sent as HPACK literals, and not decoded.
"""

import socket
import struct
from collections.abc import Iterator
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, RESET, SETTINGS, PING, GOAWAY, WINDOW = 0, 1, 3, 4, 6, 7, 8
ACK, END_STREAM, END_HEADERS = 1, 1, 4
CANCEL: Final = 8  # error code
LARGEST_WINDOW: Final = (1 << 31) - 1  # [bytes], more than a measurement needs
FIRST_WINDOW: Final = 65_535  # [bytes] of a connection, and of its streams: RFC 9113, 6.9.2
INITIAL_WINDOW: Final = 4  # number of the setting for the windows of streams, RFC 9113, 6.5.2
CONNECTION: Final = 0  # its number among the streams
LARGEST_FRAME: Final = 16_384  # [bytes], RFC 9113, 4.2
SERVICE: Final = "/humanoid_control.joint_stream.v1.JointStream/"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Return one frame."""
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def prefixed(message: bytes) -> bytes:
    """Return a gRPC message with its length."""
    return struct.pack("!BI", 0, len(message)) + message


def _field(name: str, value: str) -> bytes:
    """Return a field as HPACK's literal without index, RFC 7541, 6.2.2."""
    return b"\x00" + b"".join(bytes([len(it)]) + it.encode() for it in (name, value))


class Connection:
    """A connection to a joint stream's socket."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self._rest = b""
        self._stream = -1
        self._initial = FIRST_WINDOW
        self._room = {CONNECTION: FIRST_WINDOW}  # [bytes] that may be sent, by stream
        self._messages: dict[int, bytearray] = {}
        self.messages: dict[int, list[bytes]] = {}  # received, by stream
        self.ended: set[int] = set()  # streams that the server has ended
        self._send(
            PREFACE
            + frame(SETTINGS, 0, 0, struct.pack("!HI", INITIAL_WINDOW, LARGEST_WINDOW))
            + frame(WINDOW, 0, 0, struct.pack("!I", LARGEST_WINDOW - FIRST_WINDOW))
        )

    def open(self, method: str) -> int:
        """Begin a call; return its stream."""
        self._stream += 2
        fields = {
            ":method": "POST",
            ":scheme": "http",
            ":path": SERVICE + method,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
        }
        self._room[self._stream] = self._initial
        block = b"".join(_field(*it) for it in fields.items())
        self._send(frame(HEADERS, END_HEADERS, self._stream, block))
        return self._stream

    def send(self, stream: int, message: bytes, *, last: bool = False) -> None:
        """Send a message of a call, unless that has ended; wait for room in its window."""
        rest = prefixed(message)
        while rest and stream not in self.ended:
            room = min(self._room[CONNECTION], self._room[stream], LARGEST_FRAME)
            if room <= 0:
                self.read()
                continue
            part, rest = rest[:room], rest[room:]
            self._room[CONNECTION] -= len(part)
            self._room[stream] -= len(part)
            self._send(frame(DATA, END_STREAM if last and not rest else 0, stream, part))

    def close_half(self, stream: int) -> None:
        """End the messages of a call."""
        self._send(frame(DATA, END_STREAM, stream, b""))

    def reset(self, stream: int) -> None:
        """Cancel a call."""
        self._send(frame(RESET, 0, stream, struct.pack("!I", CANCEL)))

    def send_raw(self, data: bytes) -> None:
        """Send bytes as they are."""
        self._send(data)

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    def call(self, method: str, request: bytes) -> bytes:
        """Return the reply of a call with one message; empty if it has failed."""
        stream = self.open(method)
        self.send(stream, request, last=True)
        return self.result(stream)

    def result(self, stream: int) -> bytes:
        """Wait for the end of a call; return its last message, empty if there is none."""
        while stream not in self.ended:
            self.read()
        self.ended.discard(stream)
        self._room.pop(stream)
        self._messages.pop(stream, None)
        found = self.messages.pop(stream, [])
        return found[-1] if found else b""

    def read(self) -> None:
        """Receive frames; answer those that need it. Raises EOFError."""
        data = self.socket.recv(1 << 16)
        if not data:
            raise EOFError("the server has closed the connection")
        for kind, flags, stream, payload in self._frames(self._rest + data):
            if kind == DATA:
                self._take(stream, payload)
            elif kind == GOAWAY:
                raise EOFError("the server has ended the connection")
            elif kind == WINDOW and stream in self._room:
                self._room[stream] += int.from_bytes(payload, "big")
            elif kind in {SETTINGS, PING} and not flags & ACK:
                self._answer(kind, payload)
            if kind == RESET or (kind in (DATA, HEADERS) and flags & END_STREAM):
                self.ended.add(stream)

    def _answer(self, kind: int, payload: bytes) -> None:
        if kind == PING:
            self._send(frame(PING, ACK, CONNECTION, payload))
            return
        settings = dict(struct.iter_unpack("!HI", payload))
        before, self._initial = self._initial, settings.get(INITIAL_WINDOW, self._initial)
        for stream in self._room.keys() - {CONNECTION}:
            self._room[stream] += self._initial - before
        self._send(frame(SETTINGS, ACK, CONNECTION, b""))

    def _frames(self, data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
        at = 0
        while len(data) - at >= 9:
            size = int.from_bytes(data[at : at + 3], "big")
            if len(data) - at < 9 + size:
                break
            stream = int.from_bytes(data[at + 5 : at + 9], "big")
            yield data[at + 3], data[at + 4], stream, data[at + 9 : at + 9 + size]
            at += 9 + size
        self._rest = data[at:]

    def _take(self, stream: int, payload: bytes) -> None:
        waiting = self._messages.setdefault(stream, bytearray())
        waiting += payload
        while len(waiting) >= 5:
            size = int.from_bytes(waiting[1:5], "big")
            if len(waiting) < 5 + size:
                return
            self.messages.setdefault(stream, []).append(bytes(waiting[5 : 5 + size]))
            del waiting[: 5 + size]

    def _send(self, data: bytes) -> None:
        self.socket.sendall(data)
