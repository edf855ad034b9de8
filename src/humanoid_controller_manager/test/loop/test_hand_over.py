"""Passing whole values between threads: LatestValue and SnapshotPublisher."""

from __future__ import annotations

import threading
from asyncio import CancelledError
from typing import Any, NamedTuple

import pytest

from humanoid_controller_manager.loop.latest_value import LatestValue
from humanoid_controller_manager.ros.topics import snapshot_publisher
from humanoid_controller_manager.ros.topics.snapshot_publisher import HANGING, SnapshotPublisher

TIMEOUT = 60.0  # [s] limit of the wait for another thread; a passing test never reaches it


def test_an_empty_mailbox_gives_nothing() -> None:
    assert LatestValue[int]().take() is None


def test_a_value_is_taken_once() -> None:
    box: LatestValue[int] = LatestValue()
    box.put(1)
    assert (box.take(), box.take()) == (1, None)


def test_the_newest_value_wins() -> None:
    box: LatestValue[int] = LatestValue()
    for value in range(5):
        box.put(value)
    assert (box.take(), box.take()) == (4, None)


def test_between_threads_values_arrive_whole_in_order_and_at_most_once() -> None:
    box: LatestValue[tuple[int, int]] = LatestValue()
    done = threading.Event()

    def produce() -> None:
        for i in range(20_000):
            box.put((i, -i))
        done.set()

    producer = threading.Thread(target=produce)
    producer.start()
    taken = []
    while not done.is_set() or taken[-1:] != [(19_999, -19_999)]:
        value = box.take()
        if value is not None:
            taken.append(value)
    producer.join()

    firsts = [first for first, _ in taken]
    assert all(second == -first for first, second in taken)
    assert firsts == sorted(set(firsts))


class Tick(NamedTuple):
    """The part of a snapshot that the hand-over uses."""

    tick: int


class Listener:
    """Records its calls; blocks inside a call while `gate` is closed."""

    def __init__(self) -> None:
        self.received: list[Any] = []
        self.called = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, snapshot: Any) -> None:
        self.received.append(snapshot)
        self.called.set()
        assert self.gate.wait(TIMEOUT)

    def wait_for_call(self) -> None:
        assert self.called.wait(TIMEOUT)
        self.called.clear()


def _outbox(*listeners: Any) -> SnapshotPublisher:
    outbox = SnapshotPublisher(0.0)
    outbox.listen(listeners)
    outbox.start()
    return outbox


def test_a_value_that_is_put_is_published_to_every_listener() -> None:
    first, second = Listener(), Listener()
    outbox = _outbox(first, second)
    outbox.put(Tick(1))
    second.wait_for_call()
    outbox.stop()
    assert first.received[0] == second.received[0] == Tick(1)


def test_only_the_newest_snapshot_waits_for_publication() -> None:
    listener = Listener()
    listener.gate.clear()
    outbox = _outbox(listener)
    outbox.put(Tick(1))
    listener.wait_for_call()
    for number in (2, 3, 4):
        outbox.put(Tick(number))
    listener.gate.set()
    listener.wait_for_call()
    outbox.stop()
    assert list(dict.fromkeys(listener.received)) == [Tick(1), Tick(4)]


def test_snapshots_overwritten_before_publication_are_counted() -> None:
    listener = Listener()
    listener.gate.clear()
    outbox = _outbox(listener)
    outbox.put(Tick(1))
    listener.wait_for_call()
    for number in (2, 3, 4):
        outbox.put(Tick(number))
    assert outbox.overwritten == 0
    listener.gate.set()
    listener.wait_for_call()
    outbox.put(Tick(5))
    listener.wait_for_call()
    outbox.stop()
    assert [snapshot.tick for snapshot in listener.received] == [1, 4, 5]
    assert outbox.overwritten == 2


def test_stop_publishes_the_waiting_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_publisher, "JOIN_TIMEOUT", TIMEOUT)
    listener = Listener()
    listener.gate.clear()
    outbox = _outbox(listener)
    outbox.put(Tick(1))
    listener.wait_for_call()
    outbox.put(Tick(2))
    stopping = threading.Thread(target=outbox.stop)
    stopping.start()
    while not outbox._stopping:  # the stop must be requested before the listener returns
        stopping.join(0.001)
    listener.gate.set()
    stopping.join(TIMEOUT)
    assert not stopping.is_alive()
    assert list(dict.fromkeys(listener.received)) == [Tick(1), Tick(2)]


def test_no_snapshot_is_published_twice() -> None:
    listener = Listener()
    outbox = _outbox(listener)
    outbox.put(Tick(1))
    listener.wait_for_call()
    outbox.stop()
    assert listener.received == [Tick(1)]


def test_all_listeners_receive_the_same_snapshot() -> None:
    first, second = Listener(), Listener()
    first.gate.clear()
    outbox = _outbox(first, second)
    outbox.put(Tick(1))
    first.wait_for_call()
    outbox.put(Tick(2))
    first.gate.set()
    second.wait_for_call()
    assert second.received[0] == Tick(1)
    outbox.stop()


def test_a_listener_that_raises_does_not_stop_the_others_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    listener = Listener()

    def broken(snapshot: Any) -> None:
        raise RuntimeError("no publisher")

    outbox = _outbox(broken, listener)
    for number in (1, 2, 3):
        outbox.put(Tick(number))
        listener.wait_for_call()
    outbox.stop()
    assert listener.received[:3] == [Tick(1), Tick(2), Tick(3)]
    assert caplog.text.count("failed to publish") == 1


def test_a_listener_that_hangs_is_named_once_and_the_others_go_on_without_it() -> None:
    hanging, listener = Listener(), Listener()
    hanging.gate.clear()
    outbox = _outbox(hanging, listener)
    outbox.put(Tick(1))
    hanging.wait_for_call()
    assert [it for look in range(30) if (it := outbox.leave_hanging(0.1 * look))] == [hanging]
    outbox.put(Tick(2))
    listener.wait_for_call()
    hanging.gate.set()  # too late
    outbox.put(Tick(3))
    listener.wait_for_call()
    outbox.stop()
    assert (hanging.received, listener.received) == ([Tick(1)], [Tick(2), Tick(3)])


def test_many_calls_that_return_are_no_hang() -> None:
    listener = Listener()
    outbox = _outbox(listener)
    for number in range(30):
        listener.gate.clear()
        outbox.put(Tick(number))
        listener.wait_for_call()
        hanging = outbox.leave_hanging(0.1 * number)
        listener.gate.set()
        assert hanging is None
    outbox.stop()


def test_a_stall_of_the_thread_that_looks_is_none_of_the_listener() -> None:
    listener = Listener()
    listener.gate.clear()
    outbox = _outbox(listener)
    outbox.put(Tick(1))
    listener.wait_for_call()
    looks = [outbox.leave_hanging(now) for now in (0.0, 10.0 * HANGING, 20.0 * HANGING)]
    listener.gate.set()
    outbox.stop()
    assert looks == [None, None, None]


def test_stop_does_not_wait_for_a_listener_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshot_publisher, "JOIN_TIMEOUT", 0.01)
    listener = Listener()
    listener.gate.clear()
    outbox = _outbox(listener)
    outbox.put(Tick(1))
    listener.wait_for_call()
    outbox.stop()
    assert listener.received == [Tick(1)]
    listener.gate.set()


def test_an_outbox_nothing_was_put_into_stops() -> None:
    listener = Listener()
    outbox = _outbox(listener)
    outbox.stop()
    assert listener.received == []


class _Unhashable(list[Any]):
    """A listener without a hash, which raises what is no Exception."""

    def __call__(self, snapshot: Any) -> None:
        self.append(snapshot)
        raise CancelledError


def test_a_listener_that_raises_anything_does_not_silence_the_others(
    caplog: pytest.LogCaptureFixture,
) -> None:
    broken, other = _Unhashable(), Listener()
    outbox = _outbox(broken, other)
    for number in (1, 2):
        outbox.put(Tick(number))
        other.wait_for_call()
    outbox.stop()
    assert len(broken) >= 2
    assert caplog.text.count("failed to publish") == 1
