"""The LAWICEL protocol on a pty, with single bytes and with an unmodified python-can."""

from __future__ import annotations

import os
import select
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import can
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_twin.can.adapters import lawicel
from humanoid_twin.can.adapters.slcan import SlcanPort
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.errors import AdapterError, CanError

if TYPE_CHECKING:
    from src.humanoid_twin.test.can.conftest import Bench

TIMEOUT = 10.0  # [s]


@st.composite
def frames(draw) -> CanFrame:
    extended = draw(st.booleans())
    identifier = draw(st.integers(0, (1 << (29 if extended else 11)) - 1))
    if draw(st.booleans()):
        return CanFrame(identifier, draw(st.binary(max_size=8)), extended)
    return CanFrame(identifier, extended=extended, requested=draw(st.integers(0, 8)))


@given(frames(), st.none() | st.integers(0, 10**9))
def test_line_contains_the_frame(frame, milliseconds):
    line = lawicel.encode(frame, milliseconds)
    assert line.endswith(b"\r")
    line = line[:-1]
    if milliseconds is not None:
        assert int(line[-4:], 16) == milliseconds % 60_000
        line = line[:-4]
    assert lawicel.decode(line) == frame
    assert lawicel.decode(line[:1] + line[1:].lower()) == frame


@pytest.mark.parametrize(
    ("line", "frame"),
    [
        (b"t10021133", CanFrame(0x100, b"\x11\x33", extended=False)),
        (b"T0000010021133", CanFrame(0x100, b"\x11\x33")),
        (b"r1002", CanFrame(0x100, extended=False, requested=2)),
        (b"R000001002", CanFrame(0x100, requested=2)),
        (b"t1230", CanFrame(0x123, extended=False)),
    ],
    ids=repr,
)
def test_lines_of_the_manual(line, frame):
    assert lawicel.decode(line) == frame
    assert lawicel.encode(frame) == line + b"\r"


@given(st.binary(max_size=30))
def test_any_other_line_is_refused_with_a_sentence(line):
    try:
        frame = lawicel.decode(line)
    except CanError as error:
        assert str(error)
    else:
        assert lawicel.encode(frame)[:-1].lower() == line.lower()


class Host:
    """A client of the serial line, byte by byte."""

    def __init__(self, bench, port: SlcanPort) -> None:
        self.bench, self.port = bench, port
        self.line = os.open(port.device, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)

    def write(self, text: bytes) -> None:
        os.write(self.line, text)
        assert select.select([self.port.fileno()], [], [], TIMEOUT)[0]
        self.port.serve(self.bench.bus.now)

    def read(self) -> bytes:
        try:
            return os.read(self.line, 1 << 16)
        except BlockingIOError:
            return b""

    def ask(self, text: bytes) -> bytes:
        self.write(text)
        return self.answer()

    def answer(self) -> bytes:
        assert select.select([self.line], [], [], TIMEOUT)[0]
        return self.read()

    def answer_until(self, end: bytes) -> bytes:
        """Return the answer that ends with `end`: a pty may deliver it in parts."""
        found = self.answer()
        while not found.endswith(end):
            found += self.answer()
        return found


@pytest.fixture
def port(bench: Bench, tmp_path: Path) -> Iterator[SlcanPort]:
    port = SlcanPort(bench.bus, tmp_path / "can")
    yield port
    port.close()


@pytest.fixture
def host(bench: Bench, port: SlcanPort) -> Iterator[Host]:
    host = Host(bench, port)
    yield host
    os.close(host.line)


def test_path_leads_to_a_serial_line_and_is_removed_at_the_end(bench, tmp_path):
    path = tmp_path / "can"
    port = SlcanPort(bench.bus, path)
    assert str(path.readlink()) == port.device
    port.close()
    assert not path.is_symlink()


def test_a_held_up_adapter_answers_afterwards_and_behind_the_frames_received_before(bench, host):
    host.ask(b"S8\rO\r")
    held = host.port.controller
    held.hold_up(bench.bus.now + 50_000_000)
    other = bench.bus.attach(lambda *_: None)
    other.send(CanFrame(0x100, b""), bench.bus.now)
    bench.bus.run(bench.bus.now + 10_000_000)
    host.write(b"V\r")
    assert host.read() == b""
    bench.bus.run(bench.bus.now + 41_000_000)
    assert host.answer_until(b"V1013\r") == b"T000001000\rV1013\r"
    host.port.controller.hold_up(bench.bus.now + 50_000_000)
    host.write(b"N\r")
    bench.bus.run(bench.bus.now + 51_000_000)
    assert host.answer_until(b"TWIN\r") == b"NTWIN\r"  # and nothing from the first hold-up


def test_bytes_behind_an_order_to_close_the_channel_outlive_a_hold_up(bench, host):
    host.ask(b"S8\rO\r")
    host.port.controller.hold_up(bench.bus.now + 50_000_000)
    host.write(b"C\r")
    host.write(b"O\r")
    host.write(b"V\r")
    bench.bus.run(bench.bus.now + 51_000_000)
    assert host.answer_until(b"V1013\r") == b"\r\rV1013\r"


def test_link_that_a_killed_process_has_left_is_replaced(bench, tmp_path):
    path = tmp_path / "can"
    path.symlink_to("/dev/pts/99999")
    port = SlcanPort(bench.bus, path)
    assert str(path.readlink()) == port.device
    port.close()


def test_port_replaces_no_other_file_at_its_path(bench, tmp_path):
    path = tmp_path / "can"
    path.write_text("precious")
    with pytest.raises(AdapterError, match="is no link to a serial line"):
        SlcanPort(bench.bus, path)
    assert path.read_text() == "precious"


def test_port_replaces_no_link_to_anything_else(bench, tmp_path):
    path = tmp_path / "can"
    path.symlink_to(tmp_path)
    with pytest.raises(AdapterError, match="no link to a serial line"):
        SlcanPort(bench.bus, path)
    assert path.readlink() == tmp_path


def test_port_takes_no_line_of_another_one_that_runs(bench, tmp_path):
    first = SlcanPort(bench.bus, tmp_path / "can")
    for _ in range(2):  # unplugged, it still has its place
        with pytest.raises(AdapterError, match=f"its serial line at '{tmp_path / 'can'}'"):
            SlcanPort(bench.bus, tmp_path / "can")
        first.unplug()
    first.close()
    SlcanPort(bench.bus, tmp_path / "can").close()


def test_folder_that_does_not_exist_is_named(bench, tmp_path):
    with pytest.raises(AdapterError, match=r"nowhere/can.*No such file"):
        SlcanPort(bench.bus, tmp_path / "nowhere" / "can")


def test_frames_go_both_ways(bench, host):
    motor = bench.node()
    assert host.ask(b"S8\rO\r") == b"\r\r"
    assert host.ask(b"T0506160185555555555555555\r") == b"Z\r"
    bench.run(1)
    assert motor.frames == [CanFrame(0x05061601, b"\x55" * 8)]
    motor.controller.send(CanFrame(0x123, b"\xab", extended=False), bench.bus.now)
    bench.run(1)
    assert host.answer() == b"t1231AB\r"
    assert host.ask(b"t1232ABCD\r") == b"z\r"


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"C\r", b"\a"),  # not open
        (b"T0506160185555555555555555\r", b"\a"),
        (b"O\r", b"\a"),  # no bit rate yet
        (b"F\r", b"\a"),
        (b"S9\r", b"\a"),
        (b"S\r", b"\a"),
        (b"Z2\r", b"\a"),
        (b"nonsense\r", b"\a"),
        (b"\r", b"\r"),
        (b"V\r", b"V1013\r"),
        (b"N\r", b"NTWIN\r"),
        (b"S6\r", b"\r"),
        (b"Z1\r", b"\r"),
    ],
    ids=repr,
)
def test_closed_channel_answers(host, line, answer):
    assert host.ask(line) == answer


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (b"O\r", b"\a"),
        (b"L\r", b"\a"),
        (b"S8\r", b"\a"),
        (b"Z1\r", b"\a"),
        (b"F\r", b"F00\r"),
        (b"C\r", b"\r"),
        (b"T123\r", b"\a"),
        (b"T200000000\r", b"\a"),
        (b"tXYZ0\r", b"\a"),
    ],
    ids=repr,
)
def test_open_channel_answers(host, line, answer):
    host.ask(b"S8\rO\r")
    assert host.ask(line) == answer


def test_adapter_without_flags_answers_the_question_with_a_bell(host, port):
    port.serial.offers_flags = False
    host.ask(b"S8\rO\r")
    assert host.ask(b"F\r") == b"\a"
    port.serial.offers_flags = True
    assert host.ask(b"F\r") == b"\a"  # the firmware cannot change while the channel is open
    assert host.ask(b"C\rO\rF\r") == b"\r\rF00\r"


def test_bytes_are_lost_on_their_way_to_the_adapter_and_to_the_host(host, bench, port):
    host.ask(b"S8\rO\r")
    faults, line = port.serial.faults, b"T000000010\r"
    faults.cut = 1
    assert host.ask(line) == b"\a"
    node = bench.node()
    bench.send(node, 1, b"")
    faults.cut = 2
    bench.run(1)
    assert host.answer() in [line[:at] + line[at + 2 :] for at in range(len(line))]
    assert faults.cut == 0  # once


def test_bytes_are_lost_and_inserted_at_random(port):
    faults, data = port.serial.faults, bytes(1000)
    faults.lost_probability = 0.1
    assert 800 < len(faults.disturb(data)) < 1000
    faults.lost_probability, faults.inserted_probability = 0.0, 0.1
    arrived = faults.disturb(data)
    assert 1000 < len(arrived) < 1200
    assert any(arrived)
    faults.inserted_probability = 0.0
    assert faults.disturb(data) == data


def test_requests_are_left_unanswered(host, port):
    host.ask(b"S8\rO\r")
    port.serial.faults.unanswered = b"FV"
    assert host.ask(b"F\rV\rN\r") == b"NTWIN\r"
    port.serial.faults.unanswered = b""
    assert host.ask(b"V\r") == b"V1013\r"


def test_a_command_whose_answer_is_left_out_is_executed(host, bench, port):
    node = bench.node()
    host.ask(b"S8\rO\r")
    port.serial.faults.unanswered_probability = 1.0
    host.write(b"T000000070\r")
    bench.run(1)
    assert node.frames == [CanFrame(7)]
    assert host.read() == b""


def test_half_a_line_waits_for_its_other_half(bench, host):
    motor = bench.node()
    host.ask(b"S8\rO\r")
    host.write(b"T05061601855555")
    host.write(b"55555")
    bench.run(1)
    assert not motor.got
    assert host.read() == b""
    assert host.ask(b"555555\r") == b"Z\r"
    bench.run(1)
    assert len(motor.got) == 1


def test_line_without_end_is_refused_once_and_then_dropped(host):
    for _ in range(50):
        host.write(b"x" * 1000)
    assert host.ask(b"\rV\r") == b"\aV1013\r"


def test_half_written_line_of_a_client_does_not_disturb_the_next_client(bench, port):
    first = Host(bench, port)
    first.write(b"S8\rO\rT0506")
    os.close(first.line)
    second = Host(bench, port)
    termios.tcflush(second.line, termios.TCIFLUSH)  # as pyserial does when it opens
    assert second.ask(b"C\rS8\rO\r") == b"\r\r\r"
    os.close(second.line)


def test_unread_frames_are_not_given_to_the_next_client(bench, port):
    motor = bench.node()
    host = Host(bench, port)
    host.ask(b"S8\rO\r")
    os.close(host.line)
    for number in range(2000):  # more than the line can hold
        bench.send(motor, number)
        bench.run(0.2)
    assert motor.controller.waiting == 0  # the adapter still acknowledges
    host = Host(bench, port)
    termios.tcflush(host.line, termios.TCIFLUSH)
    host.write(b"")  # the flush itself
    host.read()
    bench.send(motor, 0x1234)
    bench.run(1)
    assert host.answer() == lawicel.encode(CanFrame(0x1234, bytes(8)))
    assert host.ask(b"F\r") == b"F01\r"  # receive buffer was full
    assert host.ask(b"F\r") == b"F00\r"
    os.close(host.line)


def test_full_queue_is_a_bell(bench, host):
    host.ask(b"S8\rO\r")
    frame = b"T0506160185555555555555555\r"
    assert host.ask(frame * 12) == b"Z\r" * 10 + b"\a\a"
    assert host.ask(b"F\r") == b"F02\r"


def test_motors_without_power_show_as_error_passive_and_a_queue_that_never_drains(bench, host):
    host.ask(b"S8\rO\r")
    host.ask(b"T0506160185555555555555555\r" * 10)
    bench.run(1000)
    assert host.ask(b"T0506160185555555555555555\r") == b"\a"
    assert host.ask(b"F\r") == b"FA6\r"  # bus error, error passive, warning, queue full
    assert host.ask(b"F\r") == b"F26\r"  # no further error: the flags stay
    bench.node()
    bench.run(5)
    assert host.ask(b"F\r") == b"F04\r"  # a node acknowledges: the queue has drained


def test_bus_off_ends_when_the_channel_is_opened_again(bench, host, port):
    motor = bench.node()
    host.ask(b"S8\rO\r")
    port.controller.go_bus_off(0)
    bench.run(100)
    assert host.ask(b"T0506160185555555555555555\r") == b"\a"
    assert host.ask(b"F\r") == b"FA4\r"
    assert host.ask(b"C\rO\rT0506160185555555555555555\r") == b"\r\rZ\r"
    bench.run(10)
    assert len(motor.got) == 1


def test_time_stamps_are_milliseconds_of_a_minute(bench, host):
    motor = bench.node()
    host.ask(b"Z1\rS8\rO\r")
    bench.run(61_234)
    bench.send(motor, 1, b"")
    bench.run(1)
    assert host.answer() == b"T00000001004D2\r"  # 1234 ms


def test_listening_only_sends_and_acknowledges_nothing(bench, host):
    motor = bench.node()
    host.ask(b"S8\rL\r")
    assert host.ask(b"T0506160185555555555555555\r") == b"\a"
    bench.send(motor, 1)
    bench.run(10)
    assert host.read() == b""
    assert bench.bus.counters.frames == 0


def test_setup_command_sets_the_bit_rate(bench, host, port):
    host.ask(b"S6\rO\r")
    assert port.controller.bitrate == 500_000
    motor = bench.node()
    host.ask(b"T0506160185555555555555555\r")
    bench.run(100)
    assert not motor.got
    assert bench.bus.counters.error_frames > 0


def test_unplugged_adapter_hangs_up_and_comes_back_closed(bench, port, host, tmp_path):
    host.ask(b"S8\rO\r")
    number = port.fileno()
    port.unplug()
    assert not (tmp_path / "can").is_symlink()
    with pytest.raises(OSError, match="Input/output error"):
        os.write(host.line, b"V\r")
    with pytest.raises(AdapterError, match="unplugged"):
        _ = port.device
    port.serve(bench.bus.now)
    port.unplug()
    bench.send(bench.node(), 1)
    bench.run(5)
    assert port.fileno() == number
    port.plug_in()
    again = Host(bench, port)
    assert again.ask(b"T0506160185555555555555555\r") == b"\a"
    assert again.ask(b"S8\rO\r") == b"\r\r"
    os.close(again.line)


@pytest.fixture
def gathering(bench: Bench, tmp_path: Path) -> Iterator[tuple[SlcanPort, Host]]:
    port = SlcanPort(bench.bus, tmp_path / "gathers", gathers=True)
    host = Host(bench, port)
    host.write(b"S8\rO\r")
    port.hand_over()
    assert host.answer() == b"\r\r"
    yield port, host
    os.close(host.line)
    port.close()


def test_gathered_frames_and_answers_are_handed_over_at_once(bench, gathering):
    port, host = gathering
    bench.send(bench.node(), 1)
    host.write(b"T0506160185555555555555555\r")
    bench.run(1)
    assert host.read() == b""
    port.hand_over()
    assert host.answer() == b"Z\rT0000000180000000000000000\r"
    port.hand_over()
    assert host.read() == b""


def test_gathered_frames_that_the_host_does_not_read_are_lost_and_flagged(bench, gathering):
    port, host = gathering
    motor = bench.node()
    for _ in range(5000):  # 27 bytes each: more than a pty holds
        bench.send(motor, 1)
        bench.run(1)
        port.hand_over()
    heard = b""
    while (more := host.read()) or not heard.endswith(b"\r"):
        heard += more
        port.hand_over()  # the cut line arrives complete
    assert set(heard.split(b"\r")) == {b"T0000000180000000000000000", b""}
    host.write(b"F\r")
    port.hand_over()
    assert int(host.answer()[1:3], 16) & 1


@contextmanager
def served(bench, port):
    """The bus runs in a thread, a millisecond after each write of the client."""
    reader, writer = os.pipe()

    def loop() -> None:
        while True:
            readable, _, _ = select.select([port.fileno(), reader], [], [])
            if reader in readable:
                return
            port.serve(bench.bus.now)
            bench.run(1)

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        os.write(writer, b"x")
        thread.join()
        os.close(reader)
        os.close(writer)


def test_python_can_sends_and_receives(bench, port, tmp_path):
    motor = bench.node()
    with served(bench, port), can.Bus(
        interface="slcan", channel=str(tmp_path / "can"), bitrate=1_000_000, sleep_after_open=0.0
    ) as bus:  # fmt: skip
        assert bus.get_version(TIMEOUT) == (10, 13)
        assert port.controller.bitrate == 1_000_000
        bus.send(can.Message(arbitration_id=0x05061601, data=b"\x09\x05\x05"))
        bus.send(can.Message(arbitration_id=0x123, is_extended_id=False, is_remote_frame=True))
        while len(motor.got) < 2:  # each request lets the bus run; closing would empty the queue
            assert bus.get_serial_number(TIMEOUT) == "TWIN"
    assert motor.frames == [
        CanFrame(0x05061601, b"\x09\x05\x05"),
        CanFrame(0x123, extended=False, requested=0),
    ]


def test_python_can_gets_what_motors_send(bench, port, tmp_path):
    motor = bench.node()
    echo = motor.receive

    def answer(frame: CanFrame, now: int) -> None:
        echo(frame, now)
        motor.controller.send(CanFrame(frame.identifier + 1, frame.data[::-1]), now)

    motor.controller.receive = answer
    with served(bench, port), can.Bus(
        interface="slcan", channel=str(tmp_path / "can"), bitrate=1_000_000, sleep_after_open=0.0
    ) as bus:  # fmt: skip
        for number in range(20):
            bus.send(can.Message(arbitration_id=number, data=bytes(range(number % 9))))
            got = bus.recv(TIMEOUT)
            assert got is not None
            assert got.arbitration_id == number + 1
            assert got.is_extended_id
            assert bytes(got.data) == bytes(range(number % 9))[::-1]


def test_python_can_is_informed_that_the_adapter_was_unplugged(bench, port, tmp_path):
    with served(bench, port):
        bus = can.Bus(
            interface="slcan",
            channel=str(tmp_path / "can"),
            bitrate=1_000_000,
            sleep_after_open=0.0,
        )
        assert bus.get_version(TIMEOUT) == (10, 13)
    port.unplug()
    with pytest.raises(can.CanOperationError):
        for _ in range(3):
            bus.recv(0.01)
    with pytest.raises(can.CanOperationError):
        bus.shutdown()
    bus.serialPortOrig.close()
