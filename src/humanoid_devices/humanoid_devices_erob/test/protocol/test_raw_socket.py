"""Waiting for a frame ends at its limit."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from time import perf_counter

import pytest

from humanoid_devices_erob.errors import InterfaceError
from humanoid_devices_erob.master import raw_socket
from humanoid_devices_erob.master.raw_socket import RawSocket

SHORT = 0.0002  # [s]


@pytest.fixture(params=[1024, 0], ids=["selectable descriptor", "high descriptor"])
def line(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[RawSocket, socket.socket]]:
    """A socket as SOEM's, and the far end of its cable."""
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    monkeypatch.setattr(raw_socket, "_packet_socket", lambda _: near)
    monkeypatch.setattr(raw_socket, "_SELECTABLE", request.param)
    with near, far:
        yield RawSocket("eth7"), far


def test_wait_of_less_than_a_millisecond_is_not_rounded_up(line) -> None:
    took = []
    for _ in range(20):
        begun = perf_counter()
        assert not line[0].wait(SHORT)
        took.append(perf_counter() - begun)
    assert min(took) < 0.0009


def test_wait_ends_with_the_frame(line) -> None:
    near, far = line
    far.send(b"frame")
    assert near.wait(SHORT)
    assert near.receive() == b"frame"
    assert not near.wait(SHORT)


def test_wait_for_longer_lasts_about_as_long(line) -> None:
    begun = perf_counter()
    assert not line[0].wait(0.005)
    assert perf_counter() - begun > 0.0035


def test_closed_socket_ends_the_wait_and_is_an_error(line) -> None:
    near, _ = line
    near.close()
    assert near.wait(0.01)
    with pytest.raises(InterfaceError, match="eth7"):
        near.receive()
