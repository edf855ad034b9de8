"""The bus behind SocketCAN: the kernel's frame layout, on a pair of sockets instead of a vcan."""

import socket
import struct
from collections.abc import Iterator

import can
import pytest
from can.interfaces.socketcan.socketcan import build_can_frame, dissect_can_frame
from hypothesis import given
from hypothesis import strategies as st

from humanoid_twin.can.adapters import socketcan
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.errors import AdapterError

frames = st.builds(
    CanFrame, st.integers(0, (1 << 29) - 1), st.binary(max_size=8), st.just(True)
) | st.builds(CanFrame, st.integers(0, 0x7FF), st.binary(max_size=8), st.just(False))


@given(frames)
def test_layout_is_the_one_python_can_uses(frame):
    message = can.Message(
        arbitration_id=frame.identifier, is_extended_id=frame.extended, data=frame.data
    )
    packed = socketcan.encode(frame)
    theirs = build_can_frame(message)  # which sets len8_dlc, a byte for lengths above 8
    assert packed == theirs[:7] + b"\0" + theirs[8:]
    assert socketcan.decode(packed) == socketcan.decode(theirs) == frame
    assert dissect_can_frame(packed)[3] == frame.data


def test_remote_frame_keeps_its_length():
    frame = CanFrame(0x12, extended=False, requested=5)
    assert socketcan.decode(socketcan.encode(frame)) == frame


@pytest.mark.parametrize(
    "packed",
    [b"", bytes(72), struct.pack("=IB3x8s", 1 << 29 | 0x40, 8, b"")],
    ids=["nothing", "CAN FD", "error frame"],
)
def test_bytes_that_are_no_frame_give_none(packed):
    assert socketcan.decode(packed) is None


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    theirs.setblocking(False)
    yield ours, theirs
    ours.close()
    theirs.close()


def test_frames_go_both_ways_and_errors_to_the_client(bench, ends):
    ours, theirs = ends
    port = socketcan.SocketCanPort(bench.bus, ours)
    motor = bench.node()
    theirs.send(socketcan.encode(CanFrame(0x0506_1601, b"\x09")))
    port.serve(bench.bus.now)
    bench.send(motor, 0x0506_16B2)
    bench.run(1)
    assert motor.frames == [CanFrame(0x0506_1601, b"\x09")]
    assert socketcan.decode(theirs.recv(100)) == CanFrame(0x0506_16B2, bytes(8))
    port.controller.go_bus_off(bench.bus.now)
    word, length = struct.unpack("=IB3x8x", theirs.recv(100))
    assert (word, length) == (1 << 29 | 0x240, 8)
    port.close()


def test_client_that_does_not_read_delays_no_other(bench, ends):
    ours, _ = ends
    port = socketcan.SocketCanPort(bench.bus, ours)
    motor = bench.node()
    for number in range(2000):
        bench.send(motor, number)
        bench.run(0.2)
    assert motor.controller.waiting == 0
    port.close()


def test_missing_kernel_support_or_interface_is_reported_with_the_fix():
    with pytest.raises(AdapterError, match="vcan"):
        socketcan.open_interface("nosuchcan0")
