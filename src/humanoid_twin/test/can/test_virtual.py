"""The bus with python-can's `virtual` interface, and its error frames."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from itertools import count
from typing import TYPE_CHECKING

import can
import pytest
from test_support.twin.virtual_can import VirtualPort

from humanoid_twin.can.adapters import error_frames
from humanoid_twin.can.controller import Cause, ControllerReport, ErrorState
from humanoid_twin.can.frame import CanFrame

if TYPE_CHECKING:
    from src.humanoid_twin.test.can.conftest import Bench

numbers = count()


@pytest.fixture
def channel() -> str:
    return f"twin-{next(numbers)}"


@pytest.fixture
def port(bench: Bench, channel: str) -> Iterator[VirtualPort]:
    port = VirtualPort(bench.bus, channel)
    with closing(port):
        yield port


@pytest.fixture
def client(port: VirtualPort, channel: str) -> Iterator[can.BusABC]:
    with can.Bus(interface="virtual", channel=channel) as bus:
        yield bus


def received(client) -> list[can.Message]:
    return list(iter(lambda: client.recv(0), None))


def errors(client) -> list[tuple[int, bytes]]:
    return [(m.arbitration_id, bytes(m.data)) for m in received(client) if m.is_error_frame]


def test_frames_go_both_ways(bench, port, client):
    motor = bench.node()
    client.send(can.Message(arbitration_id=0x0506_1601, data=b"\x09\x05\x05\0\0\0\0\0"))
    client.send(can.Message(arbitration_id=0x12, is_extended_id=False, is_remote_frame=True, dlc=3))
    port.serve(bench.bus.now)
    motor.controller.send(CanFrame(0x0506_16B1, b"\x01\x02"), bench.bus.now)
    bench.run(1)
    assert motor.frames == [
        CanFrame(0x0506_1601, b"\x09\x05\x05\0\0\0\0\0"),
        CanFrame(0x12, extended=False, requested=3),
    ]
    (message,) = received(client)
    assert (message.arbitration_id, bytes(message.data)) == (0x0506_16B1, b"\x01\x02")
    assert message.is_extended_id
    assert not message.is_error_frame


def test_client_does_not_get_its_own_frames(bench, port, client):
    bench.node()
    client.send(can.Message(arbitration_id=1))
    port.serve(bench.bus.now)
    bench.run(1)
    assert not received(client)


def test_missing_acknowledgement_shows_as_socketcan_shows_it(bench, port, client):
    for _ in range(12):
        client.send(can.Message(arbitration_id=1))
    port.serve(bench.bus.now)
    bench.run(100)
    got = errors(client)
    kinds = [kind & ~0x200 for kind, _ in got]
    assert kinds[:2] == [0x04, 0x04]  # the queue overflowed twice
    assert got[0][1][1] == 0x02
    assert kinds.count(0x20 | 0x80) == 16
    states = [data[1] for kind, data in got if kind & 0x04][2:]
    assert states == [0x08, 0x20]  # transmit warning, transmit passive
    assert got[-1][1][6] == 128  # TEC


def test_bus_off_is_reported_and_its_end(bench, port, client):
    bench.node()
    port.controller.go_bus_off(0)
    bench.run(5)
    assert [kind & ~0x200 for kind, _ in errors(client)] == [0x40, 0x100]


def test_wrong_bit_rate_gives_error_frames_only(bench, port, client):
    a, _ = bench.node(), bench.node()
    port.controller.set(bitrate=500_000)
    for number in range(30):
        bench.send(a, number)
        bench.run(1)
    messages = received(client)
    assert len(messages) >= 30
    assert all(message.is_error_frame for message in messages)


def test_unplugged_adapter_neither_sends_nor_receives_until_it_is_back(bench, port, client):
    motor = bench.node()
    port.unplug()
    client.send(can.Message(arbitration_id=1))
    port.serve(bench.bus.now)
    bench.send(motor, 2)
    bench.run(1)
    assert not received(client)
    assert not motor.got
    port.plug_in()
    bench.run(1)
    assert [message.arbitration_id for message in received(client)] == [2]


@pytest.mark.parametrize("cause", list(Cause), ids=lambda cause: cause.name)
@pytest.mark.parametrize("state", list(ErrorState), ids=lambda state: state.name)
def test_every_controller_report_has_an_error_frame_with_both_counters(cause, state):
    kind, data = error_frames.encode(ControllerReport(cause, state, 256, 130))
    assert kind & 0x3FF == kind != 0x200
    assert len(data) == 8
    assert tuple(data[6:]) == (255, 130)
