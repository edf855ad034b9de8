"""Mailbox frames during the exchange of process data: neither takes the answer of the other."""

from __future__ import annotations

from collections import deque
from itertools import pairwise
from math import inf

import pytest

from humanoid_control_common.machine.linux import LinuxMachine
from humanoid_devices_erob.mailbox.mailbox_port import Access
from humanoid_devices_erob.master.process_frame import ProcessFrame
from humanoid_devices_erob.master.raw_socket import RawDatagrams, RawSocket
from humanoid_devices_erob.protocol.frame import Command, decode_frame, encode_frame
from humanoid_devices_erob.protocol.pdo import RX_BYTES

TIMEOUT = 0.002  # [s]
READ = [Access(0, 0x1000, 2)]
OUTPUTS = bytes(RX_BYTES)


class Line(RawSocket, LinuxMachine):
    """A socket with a delay for each answer, and a clock that waiting advances."""

    def __init__(self) -> None:
        self.now = 100.0
        self.delays: deque[float | None] = deque()  # [s] of the next frames; None: lost
        self.answers: list[tuple[float, bytes]] = []
        self.sent: list[bytes] = []

    def clock(self) -> float:
        return self.now

    def send(self, frame: bytes) -> None:
        self.sent.append(frame)
        delay = self.delays.popleft() if self.delays else 0.0001
        if delay is not None:
            self.answers.append((self.now + delay, answered(frame)))
            self.answers.sort()

    def wait(self, seconds: float) -> bool:
        arrives = self.answers[0][0] if self.answers else inf
        self.now = max(self.now, min(arrives, self.now + seconds))
        return arrives <= self.now

    def receive(self) -> bytes:
        if self.answers and self.answers[0][0] <= self.now:
            return self.answers.pop(0)[1]
        return b""


def answered(frame: bytes) -> bytes:
    """Return `frame` as answered by one slave: read data is filled with ones."""
    datagrams = decode_frame(frame)
    for datagram in datagrams:
        ones = b"\1" * len(datagram.data)
        data = datagram.data if datagram.command == Command.LRW else ones
        object.__setattr__(datagram, "data", data)
        object.__setattr__(datagram, "counter", 3 if datagram.command == Command.LRW else 1)
    return encode_frame(datagrams).ljust(60, b"\0")


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.fixture
def port(line: Line) -> RawDatagrams:
    return RawDatagrams(line, TIMEOUT, line)


def exchanged(port: RawDatagrams) -> bool:
    return port.exchange(ProcessFrame(1), OUTPUTS, TIMEOUT) is not None


def test_the_answer_is_not_waited_for_beyond_the_given_time(line: Line, port: RawDatagrams) -> None:
    line.delays.append(0.0005)
    port.begin(READ)
    assert port.finish(0.0002) is None
    assert line.now == pytest.approx(100.0002)
    assert port.finish(inf) == [b"\1\1"]
    assert line.now == pytest.approx(100.0005)


def test_mail_that_arrives_during_an_exchange_is_kept(line: Line, port: RawDatagrams) -> None:
    line.delays.extend([0.0003, 0.0005])
    port.begin(READ)
    assert port.finish(0.0) is None
    assert exchanged(port)
    assert port.finish(0.0) == [b"\1\1"]


def test_mail_that_arrived_before_an_exchange_is_kept(line: Line, port: RawDatagrams) -> None:
    port.begin(READ)
    assert port.finish(0.0) is None
    line.now += 0.0002
    assert exchanged(port)
    assert port.finish(0.0) == [b"\1\1"]


def test_mail_that_arrives_after_an_exchange_is_waited_for(line: Line, port: RawDatagrams) -> None:
    line.delays.extend([0.0015, 0.0001])
    port.begin(READ)
    assert exchanged(port)
    assert port.finish(inf) == [b"\1\1"]


def test_mail_is_lost_after_its_timeout(line: Line, port: RawDatagrams) -> None:
    line.delays.append(None)
    port.begin(READ)
    assert port.finish(0.001) is None
    assert port.finish(inf) == [None]
    assert line.now == pytest.approx(100.0 + TIMEOUT)


def test_an_answer_that_comes_after_it_was_given_up_is_not_taken_for_the_next_one(
    line: Line, port: RawDatagrams
) -> None:
    line.delays.extend([0.0025, 0.001])
    port.begin(READ)
    assert port.finish(inf) == [None]
    port.begin([Access(0, 0x1000, 4)])
    assert port.finish(inf) == [b"\1\1\1\1"]


def test_a_late_answer_to_process_data_is_not_taken_for_the_next_one(
    line: Line, port: RawDatagrams
) -> None:
    line.delays.extend([0.0025, None])
    assert not exchanged(port)
    assert not exchanged(port)  # the late answer arrives


def test_each_request_has_another_index(line: Line, port: RawDatagrams) -> None:
    for _ in range(300):
        assert exchanged(port)
        port.begin(READ)
        assert port.finish(inf) == [b"\1\1"]
    indices = [frame[17] for frame in line.sent]
    assert min(indices) >= 16  # SOEM's are below
    assert all(index != following for index, following in pairwise(indices))
