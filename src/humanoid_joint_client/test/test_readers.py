"""Values between threads: the newest for a slow reader, updates for the connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from humanoid_joint_client.newest_values import NewestValues
from humanoid_joint_client.outgoing import WAITING, Outgoing


def test_a_slow_reader_gets_the_newest_values_and_no_more_are_kept() -> None:
    """Case 30, the part of the client."""
    read = threading.Event()

    def source() -> Iterator[int]:
        yield from range(1000)
        read.set()

    values = NewestValues(source(), 2)
    assert read.wait(10.0)
    assert list(values) == [998, 999]


def test_an_error_of_the_source_comes_after_its_values() -> None:
    def source() -> Iterator[int]:
        yield 1
        raise OSError("lost")

    values = NewestValues(source(), 5)
    assert next(values) == 1
    with pytest.raises(OSError, match="lost"):
        next(values)
    with pytest.raises(OSError, match="lost"):
        next(values)


def test_updates_leave_in_their_order_and_the_oldest_are_dropped() -> None:
    outgoing = Outgoing()
    for number in range(WAITING + 3):
        outgoing.put(number)
    outgoing.close()
    assert list(outgoing) == list(range(3, WAITING + 3))
