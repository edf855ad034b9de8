"""Values between threads: the newest for a slow reader, updates for the connection."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.newest_values import NewestValues
from humanoid_joint_client.outgoing import STALE, WAITING, Outgoing


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


@pytest.mark.parametrize("keep", [0, -1])
def test_a_reader_that_keeps_no_value_is_refused(keep: int) -> None:
    """It would wait for ever."""
    with pytest.raises(ValueError, match=f"keep is {keep}, expected 1 or more"):
        NewestValues(iter([1]), keep)


def of(number: int, **fields: Any) -> Any:
    return pb.Update(user_command_key=number, **fields)


def keys(outgoing: Outgoing) -> list[int]:
    outgoing.close()
    return [it.user_command_key for it in outgoing]


def test_updates_leave_in_their_order_and_the_oldest_are_dropped() -> None:
    outgoing = Outgoing()
    for number in range(WAITING + 3):
        outgoing.put(of(number))
    assert keys(outgoing) == list(range(3, WAITING + 3))
    assert outgoing.dropped == 3


def test_lease_and_latest_gains_of_dropped_updates_go_to_the_next_one() -> None:
    """A connection with a slow begin: the first update may be over before it."""
    outgoing = Outgoing()
    for number in range(WAITING + 10):
        gains = {"gains": pb.Gains(k_q_p=[float(number)])} if number in {0, 5, 9, 20} else {}
        outgoing.put(of(number, lease="" if number else "lease", **gains))
    outgoing.close()
    first, *later = outgoing
    assert first == of(10, lease="lease", gains=pb.Gains(k_q_p=[9.0]))
    assert [it.user_command_key for it in later] == list(range(11, WAITING + 10))
    assert [it.user_command_key for it in later if it.HasField("gains")] == [20]
    assert not any(it.lease for it in later)


def test_a_stale_update_does_not_leave_while_a_newer_one_waits() -> None:
    now = [0]
    outgoing = Outgoing(lambda: now[0])
    for number in range(3):
        outgoing.put(of(number))
    now[0] += STALE
    outgoing.put(of(3))
    assert next(outgoing).user_command_key == 0
    now[0] += 1
    assert next(outgoing).user_command_key == 3
    assert outgoing.dropped == 2
    outgoing.put(of(4))
    now[0] += 2 * STALE
    assert keys(outgoing) == [4]


def test_an_update_that_is_soon_over_waits_less_long_behind_a_newer_one() -> None:
    now = [0]
    outgoing = Outgoing(lambda: now[0])
    outgoing.put(of(0), STALE // 2)
    outgoing.put(of(1), STALE // 2)
    now[0] += STALE // 2 + 1
    assert next(outgoing).user_command_key == 1
