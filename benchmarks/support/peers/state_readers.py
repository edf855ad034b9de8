"""Read a joint stream's states with little processor time, like readers on other machines.

Usage: state_readers.py SOCKET NUMBER DECIMATION. Each reader is a connection of its own. Prints the
rates of the slowest and the fastest reader [Hz] in each second.
"""

import selectors
import sys
import time

from benchmarks.support.http2 import Connection
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.client import AHEAD


class Reader:
    """One connection, and the number of received states."""

    def __init__(self, path: str, decimation: int) -> None:
        self.connection = Connection(path)
        self.states = 0
        self._stream = self.connection.open("StreamStates")
        self._asked = AHEAD
        self._decimation = decimation
        self._ask(AHEAD)

    def read(self) -> None:
        """Count the received states. Raises EOFError."""
        self.connection.read()
        self.states += len(self.connection.messages.pop(self._stream, ()))
        if self._asked - self.states <= AHEAD // 2:
            self._asked += AHEAD // 2
            self._ask(AHEAD // 2)

    def _ask(self, count: int) -> None:
        request = pb.StatesRequest(decimation=self._decimation, count=count)
        self.connection.send(self._stream, request.SerializeToString())


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
