"""Read a joint stream's states with little processor time, like readers on other machines.

Usage: state_readers.py SOCKET NUMBER DECIMATION. Each reader is a connection of its own. Prints the
rates of the slowest and the fastest reader [Hz] in each second.
"""

import selectors
import sys
import time

from benchmarks.support.http2 import Connection


class Reader:
    """One connection, and the number of received states."""

    def __init__(self, path: str, decimation: int) -> None:
        self.connection = Connection(path)
        self.states = 0
        self._stream = self.connection.open("StreamStates")
        request = bytes([8, decimation]) if decimation else b""  # field 1, a varint
        self.connection.send(self._stream, request, last=True)

    def read(self) -> None:
        """Count the received states. Raises EOFError."""
        self.connection.read()
        self.states += len(self.connection.messages.pop(self._stream, ()))


def main() -> None:
    """Read until the end."""
    path, number, decimation = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    readers = [Reader(path, decimation) for _ in range(number)]
    selector = selectors.DefaultSelector()
    for reader in readers:
        selector.register(reader.connection.socket, selectors.EVENT_READ, reader)
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
