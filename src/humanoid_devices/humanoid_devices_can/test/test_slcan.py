"""The serial adapter's lines, against the other end of a pty."""

from __future__ import annotations

import contextlib
import gc
import math
import os
import tty
from collections.abc import Iterator
from functools import partial
from itertools import count

import pytest

from humanoid_control_common.machine.linux import LINUX, LinuxMachine
from humanoid_devices_can.bus import serial_port, slcan, slcan_answers
from humanoid_devices_can.bus.bus import Bus, BusSettings, DataFrame, InvalidFrame
from humanoid_devices_can.bus.error_frames import ControllerState
from humanoid_devices_can.bus.opening import open_bus
from humanoid_devices_can.bus.serial_lines import EMPTY_READS
from humanoid_devices_can.bus.serial_port import OpenPort, TtyPort
from humanoid_devices_can.errors import (
    AdapterLostError,
    InterfaceError,
    ProtocolError,
    QueueFullError,
)

FRAME = b"T050616B180000FFFE00001234\r"


class Adapter:
    """The other end: the bytes that the host wrote, and the answers."""

    def __init__(self) -> None:
        self.master, slave = os.openpty()
        tty.setraw(slave)
        self.path = os.ttyname(slave)
        self._slave = slave
        os.set_blocking(self.master, False)

    def send(self, data: bytes) -> None:
        os.write(self.master, data)

    def received(self) -> bytes:
        try:
            return os.read(self.master, 4096)
        except BlockingIOError:
            return b""

    def received_until(self, text: bytes) -> bytes:
        """Return the bytes of the host once `text` is in them: a pty delivers with a delay."""
        received = b""
        while text not in received:
            received += self.received()
        return received

    def unplug(self) -> None:
        os.close(self._slave)
        os.close(self.master)

    def open(self, open_port: OpenPort = TtyPort) -> Bus:
        return open_bus(BusSettings("slcan", self.path, 1_000_000), LINUX, open_port)


class AnsweringPort(TtyPort):
    """The port of an adapter that answers the first request for its flags."""

    def __init__(self, channel: str, *, adapter: Adapter, answer: bytes) -> None:
        super().__init__(channel)
        self._adapter, self._answer = adapter, answer

    def write(self, data: bytes | bytearray) -> int:
        written = super().write(data)
        if b"F\r" in data:
            self._adapter.send(self._answer)
            self._answer = b""
        return written


@pytest.fixture
def adapter() -> Iterator[Adapter]:
    adapter = Adapter()
    yield adapter
    with contextlib.suppress(OSError):
        adapter.unplug()


@pytest.fixture
def bus(adapter: Adapter) -> Iterator[Bus]:
    bus = adapter.open()
    yield bus
    bus.close()


def test_channel_is_closed_along_with_the_bus_unless_others_may_use_it(adapter) -> None:
    settings = BusSettings("slcan", adapter.path, 1_000_000)
    shared = open_bus(settings, shared=True)
    shared.send((1, b""))
    opening = adapter.received_until(b"T000000010\r")
    shared.close()
    with pytest.raises(AdapterLostError):
        shared.send((2, b""))
    own = open_bus(settings)
    own.send((1, b""))
    assert adapter.received_until(b"T000000010\r").count(b"C") == opening.count(b"C")
    own.close()
    adapter.received_until(b"C\r")


def test_adapter_is_set_to_the_bitrate_and_opened(adapter, bus) -> None:
    lines = adapter.received_until(b"O\r").split(b"\r")
    assert lines.index(b"S8") < lines.index(b"O")


def test_adapter_that_has_answered_its_opening_is_not_waited_for(adapter: Adapter) -> None:
    class Port(AnsweringPort):
        answered = False

        def read(self) -> bytes | None:
            data = super().read()
            self.answered = self.answered or b"F00\r" in (data or b"")
            return data

        def is_readable(self, timeout: float) -> bool:
            assert not self.answered
            return super().is_readable(timeout)

    adapter.open(partial(Port, adapter=adapter, answer=b"F00\r")).close()


@pytest.fixture
def answering(adapter: Adapter) -> Iterator[Bus]:
    """The bus of an adapter that has answered the request for its version."""
    bus = adapter.open(partial(AnsweringPort, adapter=adapter, answer=b"V1013\rF00\r"))
    adapter.received_until(b"V\rF\r")
    yield bus
    bus.close()


def test_adapter_confirms_behind_the_frames_that_it_has_received(
    adapter: Adapter, answering: Bus
) -> None:
    assert answering.set_confirming(True)
    before = LINUX.clock()
    assert answering.ask()
    adapter.received_until(b"V\r")
    adapter.send(FRAME)
    assert len(answering.receive_all(10.0)) == 1
    assert answering.confirmed == -math.inf
    adapter.send(b"V1013\r")
    assert answering.receive_all(10.0) == []  # an answer is no frame
    assert before <= answering.confirmed <= LINUX.clock()


def test_a_confirmation_counts_once_the_frames_before_it_were_returned(
    adapter: Adapter, answering: Bus
) -> None:
    assert answering.set_confirming(True)
    assert answering.ask()
    adapter.received_until(b"V\r")
    adapter.send(FRAME + FRAME + b"V1013\r")
    assert isinstance(answering.receive(1.0), DataFrame)
    assert answering.confirmed == -math.inf
    assert isinstance(answering.receive(1.0), DataFrame)
    assert answering.confirmed > 0.0


def test_an_answer_on_its_way_when_the_next_exchange_begins_confirms_the_earlier_one(
    adapter: Adapter, answering: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slcan, "ASK_AGAIN", 0.0)
    assert answering.set_confirming(True)
    assert answering.ask()
    answering.set_confirming(False)
    begun = LINUX.clock()
    assert answering.set_confirming(True)
    assert answering.ask()
    adapter.received_until(b"V\rV\r")
    adapter.send(b"V1013\r")
    assert answering.receive_all(10.0) == []
    assert -math.inf < answering.confirmed < begun
    adapter.send(b"V1013\r")
    assert answering.receive_all(10.0) == []
    assert answering.confirmed >= begun


def test_a_lost_answer_delays_no_later_exchange(
    adapter: Adapter, answering: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slcan, "LOST", 0.0)
    assert answering.set_confirming(True)
    assert answering.ask()
    begun = LINUX.clock()
    assert answering.set_confirming(True)
    monkeypatch.setattr(slcan, "ASK_AGAIN", 0.0)
    assert answering.ask()
    adapter.received_until(b"V\rV\r")
    adapter.send(b"V1013\r")
    assert answering.receive_all(10.0) == []
    assert answering.confirmed >= begun


@pytest.mark.parametrize("said", [b"\xff\r", b"x" * 100 + b"\r", b"T0000\r"])
def test_adapter_that_answers_its_opening_with_other_text_can_be_used(
    adapter: Adapter, said: bytes
) -> None:
    bus = adapter.open(partial(AnsweringPort, adapter=adapter, answer=said + b"F00\r"))
    assert bus.receive(0.0) is None
    bus.close()


def test_adapter_is_asked_again_once_it_has_answered(
    adapter: Adapter, answering: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slcan, "ASK_AGAIN", math.inf)
    assert answering.set_confirming(True)
    for _ in range(3):
        assert answering.ask()
    answering.send((1, b""))
    assert adapter.received_until(b"T000000010\r").count(b"V") == 1
    adapter.send(b"v1013\r")
    answering.receive_all(10.0)
    assert answering.ask()
    adapter.received_until(b"V\r")


def test_adapter_whose_answer_is_lost_is_asked_again(
    adapter: Adapter, answering: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slcan, "ASK_AGAIN", 0.0)
    assert answering.set_confirming(True)
    assert answering.ask()
    assert answering.ask()
    assert adapter.received_until(b"V\rV\r")


def test_adapter_that_did_not_answer_at_its_opening_does_not_confirm(bus: Bus) -> None:
    assert not bus.set_confirming(True)


def test_line_that_a_killed_host_has_left_half_written_is_ended_first(adapter) -> None:
    line = os.open(adapter.path, os.O_WRONLY | os.O_NOCTTY)
    os.write(line, b"T0506161680000")
    bus = adapter.open()
    received = adapter.received_until(b"O\r").split(b"\r")
    assert received[0] == b"T0506161680000"
    assert b"C" in received
    bus.close()
    os.close(line)


def test_frame_is_received_whole_however_it_is_cut(adapter, bus) -> None:
    adapter.send(FRAME[:9])
    assert bus.receive(0.0) is None
    adapter.send(FRAME[9:] + FRAME)
    frame = DataFrame(0x050616B1, bytes.fromhex("0000FFFE00001234"))
    assert bus.receive(1.0) == frame
    assert bus.receive(1.0) == frame
    assert bus.receive(0.0) is None


def test_frame_without_data_is_received(adapter, bus) -> None:
    adapter.send(b"T050616B10\r")
    assert bus.receive(1.0) == DataFrame(0x050616B1, b"")


def test_frame_is_sent_as_a_line(adapter, bus) -> None:
    bus.send((0x05061609, b"\1\xff"))
    adapter.received_until(b"\rT05061609201FF\r")


def test_time_stamp_behind_a_frame_is_no_data(adapter, bus) -> None:
    adapter.send(FRAME[:-1] + b"12AB\r")
    assert bus.receive(1.0) == DataFrame(0x050616B1, bytes.fromhex("0000FFFE00001234"))


@pytest.mark.parametrize(
    "line",
    [
        b"T05061\r",
        b"TXYZ\r",
        b"T050616B18zz\r",
        b"T050616B1800\r",
        b"\xff\xfe\r",
        b"FZZ\r",
        b"F0A0\r",
        FRAME[:12] + b"1" + FRAME[12:],
        FRAME[:5] + b"1" + FRAME[5:],
        FRAME[:5] + FRAME[6:],
        FRAME[:-1] + FRAME,  # an end of line is lost
    ],
)
def test_line_that_is_no_frame_is_reported_and_the_next_one_is_read(adapter, bus, line) -> None:
    adapter.send(line + FRAME)
    assert isinstance(bus.receive(1.0), InvalidFrame)
    assert isinstance(bus.receive(1.0), DataFrame)


def test_noise_without_end_is_dropped(adapter, bus) -> None:
    adapter.send(b"x" * 100)
    assert isinstance(bus.receive(1.0), InvalidFrame)
    adapter.send(b"\r" + FRAME)
    assert isinstance(bus.receive(1.0), DataFrame)


def test_refusals_are_counted_and_answers_are_no_frames(adapter, bus) -> None:
    adapter.send(b"Z\r\aZ\rV1013\r\a\r" + FRAME)
    while not isinstance(bus.receive(1.0), DataFrame):
        pass
    assert bus.refused() == 2


def test_unplugged_adapter_is_reported(adapter, bus) -> None:
    adapter.unplug()
    with pytest.raises(AdapterLostError, match="plug it in"):
        while bus.receive(0.1) is None:
            pass
    with pytest.raises(AdapterLostError):
        while True:
            bus.send((1, b""))


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        (b"F00\r", ControllerState.ACTIVE),
        (b"F04\r", ControllerState.ACTIVE),
        (b"F24\r", ControllerState.PASSIVE),
        (b"\aFA6\r", ControllerState.PASSIVE),  # its queue is full: no acknowledgement
        (b"FA4\r", ControllerState.PASSIVE),  # no refusal yet
        (b"\aFA4\r", ControllerState.OFF),
        (b"\aFA4\rF00\r", ControllerState.ACTIVE),
    ],
)
def test_state_follows_the_adapters_flags(adapter, bus, answers, state) -> None:
    adapter.send(answers + FRAME)
    while bus.receive(1.0) is None:
        pass
    assert bus.state() is state


def test_adapter_that_answers_is_not_given_more_than_it_can_queue(adapter, bus) -> None:
    bus.send((1, b"1"))
    adapter.send(b"Z\r" + FRAME)
    while bus.receive(1.0) is None:
        pass
    for _ in range(5):
        bus.send((1, b"1"))
    with pytest.raises(QueueFullError):
        bus.send((1, b"1"))
    adapter.send(b"Z\r" + FRAME)
    while bus.receive(1.0) is None:
        pass
    bus.send((1, b"1"))


def test_lost_answers_are_not_awaited_once_the_adapter_reports_its_flags(
    adapter, bus, monkeypatch
) -> None:
    monkeypatch.setattr(slcan_answers, "ANSWER_TIMEOUT", math.inf)

    def hear(answers: bytes) -> None:
        adapter.send(answers + FRAME)
        while bus.receive(1.0) is None:
            pass

    bus.send((1, b"1"))
    hear(b"F00\rZ\r")  # an adapter that answers
    for _ in range(slcan_answers.MOST_OUTSTANDING - 1):  # not in a row: each lost answer counts
        bus.send((1, b"1"))
        bus.send((1, b"1"))
        hear(b"Z\r")
    bus.send((1, b"1"))
    adapter.received()
    with pytest.raises(QueueFullError):
        bus.send((1, b"1"))
    while True:
        try:
            bus.send((1, b"1"))
        except QueueFullError:
            if b"F\r" in adapter.received():
                hear(b"F00\r")
        else:
            break


def test_adapter_that_never_answers_is_given_every_frame(adapter, bus) -> None:
    for _ in range(30):
        bus.send((1, b"1"))
    bus.send((2, b""))
    assert adapter.received_until(b"T000000020\r").count(b"T00000001131\r") == 30


@pytest.mark.parametrize("answer", [b"\a", b""], ids=["unknown", "silent"])
def test_adapter_without_flags_is_requested_them_once(adapter, monkeypatch, answer) -> None:
    monkeypatch.setattr(slcan_answers, "ASK_FLAGS", 0.0)
    adapter.send(b"\r\r\r\r\r\r" + answer)
    bus = adapter.open()
    bus.send((1, b""))
    bus.send((2, b""))
    received = adapter.received_until(b"T000000020\r").split(b"\r")
    assert received.count(b"F") == 1
    bus.close()


def test_adapter_with_late_flags_is_polled_again(adapter, bus, monkeypatch) -> None:
    monkeypatch.setattr(slcan_answers, "ASK_FLAGS", 0.0)
    adapter.send(b"F00\r" + FRAME)
    while bus.receive(1.0) is None:
        pass
    adapter.received()
    bus.send((2, b""))
    assert b"F" in adapter.received_until(b"T000000020\r").split(b"\r")


def test_port_that_is_full_takes_whole_lines_in_the_end(adapter, bus) -> None:
    adapter.received()
    sent = 0
    while True:  # an unread port fills up, perhaps within a line
        try:
            bus.send((0x05061609, bytes(8)))
        except QueueFullError:
            break
        sent += 1
    received = b""
    while received.count(b"T") < sent:
        received += adapter.received()
        with contextlib.suppress(QueueFullError):
            bus.send((1, b""))
    lines = [line for line in received.split(b"\r")[:-1] if line not in (b"F", b"T000000010")]
    assert len(lines) >= sent - 1
    assert set(lines) == {b"T0506160980000000000000000"}


def test_all_lines_that_have_arrived_are_received_together(adapter, bus) -> None:
    adapter.send(FRAME + b"Z\rTXYZ\r\a" + FRAME + b"t12328899\rV1013\r" + FRAME + FRAME[:5])
    frame = DataFrame(0x050616B1, bytes.fromhex("0000FFFE00001234"))
    found = list(bus.receive_all(1.0))
    while len(found) < 5:  # a pty may deliver in parts
        found += bus.receive_all(1.0)
    assert [found[0], found[2], found[4]] == [frame] * 3
    assert isinstance(found[1], InvalidFrame)
    assert isinstance(found[3], InvalidFrame)  # 11 bits, where 29 are expected
    assert bus.receive_all(0.0) == []
    adapter.send(FRAME[5:])
    assert bus.receive_all(1.0) == [frame]
    assert bus.refused() == 1


def test_frames_are_sent_together_as_far_as_the_adapter_has_room(adapter, bus) -> None:
    frames = [(number, bytes([number])) for number in range(1, 9)]
    assert bus.send_all(frames[:1]) == 1
    adapter.send(b"Z\r" + FRAME)
    assert bus.receive_all(1.0)  # an adapter that answers
    assert bus.send_all(frames) == slcan_answers.MOST_OUTSTANDING
    assert bus.send_all(frames) == 0
    received = adapter.received_until(b"T00000005105\r").split(b"\r")
    lines = [line for line in received if line[:1] == b"T"]
    assert lines == [b"T%08X1%02X" % (number, number) for number in (1, 1, 2, 3, 4, 5)]


def test_an_identifier_that_does_not_fit_stops_all_frames(adapter, bus) -> None:
    adapter.received_until(b"O\r")
    with pytest.raises(ProtocolError, match="0x20000000"):
        bus.send_all([(1, b""), (1 << 29, b"")])
    assert b"T" not in adapter.received()


def test_a_lost_adapter_is_reported_by_each_way_to_use_it(adapter, bus) -> None:
    adapter.unplug()
    with pytest.raises(AdapterLostError, match="plug it in"):
        while not bus.receive_all(0.1):
            pass
    with pytest.raises(AdapterLostError):
        while True:
            bus.send_all([(1, b"")])


def test_bytes_that_another_process_has_taken_are_no_closed_port(adapter: Adapter) -> None:
    """Guard and control process read the same port."""
    taken: list[bytes | None] = []

    class Port(TtyPort):
        shared = False

        def is_readable(self, timeout: float) -> bool:
            others = self.shared and timeout > 0.0 and len(taken) < 2 * EMPTY_READS
            if others:
                adapter.send(FRAME)
            readable = super().is_readable(timeout)
            if others:
                taken.append(self.read())
            return readable

    bus = adapter.open(Port)
    Port.shared = True
    assert bus.receive(1.0) is None
    assert taken == [FRAME] * (2 * EMPTY_READS)
    adapter.send(FRAME)
    assert isinstance(bus.receive(1.0), DataFrame)
    bus.close()


def test_a_port_that_another_process_reads_just_now_is_no_closed_port(
    adapter: Adapter, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is preempted while it reads a terminal blocks other readers."""
    read, refused = os.read, []

    def refuse_first(descriptor: int, size: int) -> bytes:
        if len(refused) < 2 * EMPTY_READS:
            refused.append(descriptor)
            raise BlockingIOError
        return read(descriptor, size)

    monkeypatch.setattr(serial_port.os, "read", refuse_first)
    adapter.send(FRAME)
    assert isinstance(bus.receive(10.0), DataFrame)
    assert len(refused) == 2 * EMPTY_READS


class HastyMachine(LinuxMachine):
    """A machine on which a second passes between two looks at the clock."""

    def __init__(self) -> None:
        self._seconds = count()

    def clock(self) -> float:
        return float(next(self._seconds))


def test_adapter_that_answers_without_pause_is_read_until_the_deadline_only(
    adapter: Adapter,
) -> None:
    class Port(TtyPort):
        answers = 0

        def is_readable(self, timeout: float) -> bool:
            if not Port.answers:
                return super().is_readable(timeout)
            Port.answers -= 1
            adapter.send(b"Z\r")
            return super().is_readable(10.0)  # a pty delivers with a delay

    bus = open_bus(BusSettings("slcan", adapter.path, 1_000_000), HastyMachine(), Port)
    Port.answers = 100
    assert bus.receive(10.0) is None
    assert Port.answers > 80
    bus.close()


def test_an_opening_that_fails_leaves_the_channel_to_the_process_that_uses_it(
    adapter: Adapter,
) -> None:
    closed = []

    class Port(TtyPort):
        def read(self) -> bytes | None:
            raise OSError("closed at the other end")

        def close(self) -> None:
            closed.append(self)
            super().close()

    with pytest.raises(InterfaceError, match="closed at the other end"):
        adapter.open(Port)
    assert len(closed) == 1
    gc.collect()
    assert adapter.received_until(b"F\r").endswith(b"F\r")
    assert adapter.received() == b""
