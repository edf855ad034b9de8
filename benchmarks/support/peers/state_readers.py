"""Readers of a joint stream's states that cost this machine little, as if they ran on others.

Usage: state_readers.py SOCKET NUMBER DECIMATION. Each reader is a connection of its own. It speaks
just enough HTTP/2 to ask for the stream of states, and counts what comes. Prints the rates of the
slowest and the fastest reader [Hz] in each second.
"""

import selectors
import socket
import struct
import sys
import time
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, SETTINGS, PING, WINDOW = 0, 1, 4, 6, 8
ACK, END_STREAM, END_HEADERS = 1, 1, 4
LARGEST_WINDOW: Final = (1 << 31) - 1  # [bytes], which no measurement uses up
FIRST_WINDOW: Final = 65_535  # [bytes] of a connection, RFC 9113, 6.9.2
PATH: Final = "/humanoid_control.joint_stream.v1.JointStream/StreamStates"


def frame(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    """Return one frame."""
    return struct.pack("!I", len(payload))[1:] + struct.pack("!BBI", kind, flags, stream) + payload


def header(name: str, value: str) -> bytes:
    """Return a field as HPACK's literal without index, RFC 7541, 6.2.2."""
    return b"\x00" + b"".join(bytes([len(it)]) + it.encode() for it in (name, value))


class Reader:
    """One connection."""

    def __init__(self, path: str, decimation: int) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.states = 0
        self._rest = b""
        fields = {
            ":method": "POST",
            ":scheme": "http",
            ":path": PATH,
            ":authority": "localhost",
            "te": "trailers",
            "content-type": "application/grpc",
        }
        request = bytes([8, decimation]) if decimation else b""  # field 1, a varint
        self.socket.sendall(
            PREFACE
            + frame(SETTINGS, 0, 0, struct.pack("!HI", 4, LARGEST_WINDOW))
            + frame(WINDOW, 0, 0, struct.pack("!I", LARGEST_WINDOW - FIRST_WINDOW))
            + frame(HEADERS, END_HEADERS, 1, b"".join(header(*it) for it in fields.items()))
            + frame(DATA, END_STREAM, 1, struct.pack("!BI", 0, len(request)) + request)
        )

    def read(self) -> None:
        """Take what has come; answer what has to be. Raises EOFError."""
        data = self.socket.recv(1 << 16)
        if not data:
            raise EOFError("the server has closed the connection")
        data = self._rest + data
        at = 0
        while len(data) - at >= 9:
            size = int.from_bytes(data[at : at + 3], "big")
            if len(data) - at < 9 + size:
                break
            kind, flags = data[at + 3], data[at + 4]
            if kind == DATA and size:
                self.states += 1
            elif kind == SETTINGS and not flags & ACK:
                self.socket.sendall(frame(SETTINGS, ACK, 0, b""))
            elif kind == PING and not flags & ACK:
                self.socket.sendall(frame(PING, ACK, 0, data[at + 9 : at + 17]))
            at += 9 + size
        self._rest = data[at:]


def main() -> None:
    """Read until the end."""
    path, number, decimation = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    readers = [Reader(path, decimation) for _ in range(number)]
    selector = selectors.DefaultSelector()
    for reader in readers:
        selector.register(reader.socket, selectors.EVENT_READ, reader)
    since, before = time.monotonic(), [0] * number
    while True:
        for key, _ in selector.select(0.1):
            key.data.read()
        elapsed = time.monotonic() - since
        if elapsed >= 1.0:
            rates = [(it.states - old) / elapsed for it, old in zip(readers, before, strict=True)]
            sys.stdout.write(f"{min(rates):.0f} {max(rates):.0f}\n")
            sys.stdout.flush()
            since, before = time.monotonic(), [it.states for it in readers]


if __name__ == "__main__":
    main()
