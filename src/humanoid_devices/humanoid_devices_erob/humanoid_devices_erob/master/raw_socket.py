"""SOEM's raw socket: late answers are dropped, and frames with many datagrams use it too.

SOEM distinguishes answers by one of 16 indices and reads one frame per request. A late answer would
stay in the socket's buffer, and every later request would get an old frame, maybe of another slave.
So leftover frames are dropped before a request; and after a silence in which all indices were used,
the first answer is not trusted.

SOEM also waits in `recv` with a timeout that the kernel rounds up to a scheduler tick: 4 to 8 ms at
250 Hz for every lost frame, with the interpreter held. So process data does not go through SOEM.
"""

import errno
import os
import select
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from humanoid_control_common.machine.machine import Machine
from humanoid_devices_erob.errors import InterfaceError
from humanoid_devices_erob.mailbox.mailbox_port import Access
from humanoid_devices_erob.master.process_frame import FIRST_STATION, ExchangeResult, ProcessFrame
from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_devices_erob.protocol.frame import (
    SHORTEST_FRAME,
    Command,
    Datagram,
    decode_frame,
    encode_frame,
    physical,
)

Answer = TypeVar("Answer")

_FRAME_BYTES: Final = 1518
# Requests without answer in a row, each sent up to four times, after which all of SOEM's 16 indices
# may have been used.
SILENCE: Final = 4
_QUIET: Final = 0.002  # [s] without a frame that end the late answers
_FIRST_INDEX: Final = 16  # SOEM: EC_MAXBUF
_LAST_INDEX: Final = 0xFF
_MOST_FRAMES: Final = 10_000  # late frames at most; no ring is that late
_SELECTABLE: Final = 1024  # descriptors below it can be passed to `select` (FD_SETSIZE)


class RawSocket:
    """A duplicate of the socket that SOEM has opened on a network interface."""

    def __init__(self, interface: str) -> None:
        """Raises InterfaceError if this process has no such socket.

        Sending and receiving raise it, too, once the interface is down or gone.
        """
        self._interface = interface
        self._socket = _packet_socket(interface)
        self._readable = select.poll()
        self._readable.register(self._socket, select.POLLIN)
        self._silence = 0

    def wait(self, seconds: float) -> bool:
        """Return whether a frame arrives within so many seconds; other threads can run.

        With a descriptor too high for `select` it gives up to 1 ms less: `poll` counts whole
        milliseconds, and a tick may be what waits.
        """
        if 0 <= self._socket.fileno() < _SELECTABLE:
            return bool(select.select([self._socket], [], [], seconds)[0])
        return bool(self._readable.poll(int(seconds * 1e3)))

    def drop(self) -> None:
        """Discard all frames in the buffer."""
        while self.receive():
            pass

    def send(self, frame: bytes) -> None:
        """Send a frame that is not one of SOEM's."""
        try:
            self._socket.send(frame)
        except OSError as error:
            raise self._lost(error) from error

    def receive(self) -> bytes:
        """Return the oldest frame in the buffer; empty if there is none."""
        try:
            return self._socket.recv(_FRAME_BYTES, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return b""
        except OSError as error:
            raise self._lost(error) from error

    def _lost(self, error: OSError) -> InterfaceError:
        advice = "is its adapter still plugged in?"
        if error.errno == errno.ENETDOWN:
            advice = f"'sudo ip link set {self._interface} up', then 'hc clear-fault'"
        return InterfaceError(f"network interface '{self._interface}': {error.strerror}: {advice}")

    def trusted_counter(self, working_counter: int) -> int:
        """Return the working counter of the latest exchange; -1 if its answer can't be trusted."""
        if working_counter < 0:
            self._silence += 1
            return -1
        return working_counter if self._believable() else -1

    def _believable(self) -> bool:
        """Return whether the present answer can belong to the latest request.

        If not, return after late answers have stopped arriving.
        """
        silence, self._silence = self._silence, 0
        if silence < SILENCE:
            return True
        for _ in range(_MOST_FRAMES):
            if not self.wait(_QUIET):
                break
            self.drop()
        return False

    def close(self) -> None:
        """Close the duplicate; SOEM closes its own descriptor."""
        self._socket.close()


def _packet_socket(interface: str) -> socket.socket:
    """Return a duplicate of SOEM's packet socket on `interface`, which pysoem doesn't expose."""
    for entry in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # closed meanwhile
            if not entry.readlink().name.startswith("socket:"):
                continue
            found = socket.socket(fileno=os.dup(int(entry.name)))
            if found.family == socket.AF_PACKET and found.getsockname()[0] == interface:
                return found
            found.close()
    raise InterfaceError(f"network interface '{interface}': pysoem has opened no socket on it")


class RawDatagrams:
    """Exchanges frames with datagrams to many slaves; SOEM's own have one datagram each.

    Their indices are outside of SOEM's 16, so that neither takes a late answer of the other's for
    its own.
    """

    def __init__(self, raw_socket: RawSocket, timeout: float, machine: Machine) -> None:
        """`timeout`: [s] that an answer may take."""
        self._socket, self._timeout, self._machine = raw_socket, timeout, machine
        self._index = _FIRST_INDEX
        self._under_way: _AnswerMatcher | None = None  # since `begin`
        self._found: Sequence[Datagram] | None = None  # its answer, found by another exchange
        self._expires = 0.0  # [s]

    def access(self, accesses: Sequence[Access]) -> list[bytes | None]:
        """See MailboxPort."""
        requests = self._requests(accesses)
        self._drop()
        self._socket.send(_frame(requests))
        return _data(self._answer(_AnswerMatcher(requests), self._timeout), requests)

    def begin(self, accesses: Sequence[Access]) -> None:
        """See MailboxPort."""
        self._drop()  # of an earlier one, too
        requests = self._requests(accesses)
        self._under_way = _AnswerMatcher(requests)
        self._found = None
        self._expires = self._machine.clock() + self._timeout
        self._socket.send(_frame(requests))

    def finish(self, seconds: float) -> list[bytes | None] | None:
        """See MailboxPort."""
        matcher = self._under_way
        assert matcher is not None  # `begin` comes first
        found, self._found = self._found, None
        left = self._expires - self._machine.clock()
        if found is None:
            found = self._answer(matcher, min(seconds, left))
        if found is None and seconds < left:
            return None
        self._under_way = None
        return _data(found, matcher.requests)

    def exchange(
        self, frame: ProcessFrame, outputs: bytes, timeout: float
    ) -> ExchangeResult | None:
        """Exchange process data; None without an answer within `timeout` [s]."""
        self._drop()
        self._socket.send(frame.request(self._next_index(), outputs))
        return self._answer(frame.answer, timeout)

    def _answer(self, match: Callable[[bytes], Answer | None], timeout: float) -> Answer | None:
        """Return the result of `match` for the first frame it accepts; discard others."""
        end = self._machine.clock() + timeout
        while (left := end - self._machine.clock()) > 0.0 and self._socket.wait(left):
            frame = self._socket.receive()
            answer = match(frame)
            if answer is not None:
                return answer
            self._keep(frame)
        return None

    def _drop(self) -> None:
        """Discard all frames in the buffer, but for the answer to the frame under way."""
        while frame := self._socket.receive():
            self._keep(frame)

    def _keep(self, frame: bytes) -> None:
        """Keep `frame` for `finish` if it is the answer to the frame under way."""
        if self._under_way is not None and self._found is None:
            self._found = self._under_way(frame)

    def _requests(self, accesses: Sequence[Access]) -> list[Datagram]:
        index = self._next_index()
        return [_datagram(access, index) for access in accesses]

    def _next_index(self) -> int:
        self._index = self._index + 1 if self._index < _LAST_INDEX else _FIRST_INDEX
        return self._index


class _AnswerMatcher:
    """Recognizes the answer to `requests`, which are one frame."""

    def __init__(self, requests: Sequence[Datagram]) -> None:
        self.requests = requests
        self._signature = _signature(requests)

    def __call__(self, frame: bytes) -> Sequence[Datagram] | None:
        """Return the datagrams of `frame`, None if it is another one."""
        try:
            found = decode_frame(frame)
        except ProtocolError:
            return None
        return found if _signature(found) == self._signature else None


def _data(found: Sequence[Datagram] | None, requests: Sequence[Datagram]) -> list[bytes | None]:
    """Return the data of all answers; None for those without working counter."""
    if found is None:
        return [None] * len(requests)
    return [it.data if it.counter else None for it in found]


def _frame(datagrams: Sequence[Datagram]) -> bytes:
    return encode_frame(datagrams).ljust(SHORTEST_FRAME, b"\0")


def _datagram(access: Access, index: int) -> Datagram:
    address = physical(FIRST_STATION + access.slave, access.address)
    if access.data:
        return Datagram(Command.FPWR, address, access.data, index)
    return Datagram(Command.FPRD, address, bytes(access.length), index)


def _signature(datagrams: Sequence[Datagram]) -> list[tuple[int, int, int]]:
    """Return the fields that tie an answer to its request."""
    return [(it.command, it.index, len(it.data)) for it in datagrams]
