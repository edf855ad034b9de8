"""LockEvent: an Event of one lock."""

from collections import deque
from threading import Event, Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.machine.lock_event import LockEvent

LONG = 10.0  # [s]; only a failing test waits that long


@given(st.lists(st.sampled_from(["set", "clear", "wait", "is_set"])))
def test_it_behaves_like_an_event(calls: list[str]) -> None:
    plain, quick = Event(), LockEvent()
    for name in calls:
        arguments = (0.0,) if name == "wait" else ()
        assert getattr(quick, name)(*arguments) == getattr(plain, name)(*arguments)


def test_a_negative_timeout_does_not_wait() -> None:
    assert not LockEvent().wait(-1.0)


def test_set_ends_a_wait_without_end() -> None:
    event, ended = LockEvent(), Event()
    thread = Thread(target=lambda: event.wait() and ended.set(), daemon=True)
    thread.start()
    event.set()
    assert ended.wait(LONG)


def test_a_thread_that_waits_misses_nothing_that_several_threads_announce() -> None:
    event, queue, count = LockEvent(), deque[int](), 2_000

    def announce() -> None:
        for i in range(count):
            queue.append(i)
            event.set()

    threads = [Thread(target=announce) for _ in range(4)]
    for thread in threads:
        thread.start()
    taken = 0
    while taken < len(threads) * count:
        assert event.wait(LONG)
        event.clear()  # before the look
        while queue:
            queue.popleft()
            taken += 1
    for thread in threads:
        thread.join()


def test_set_is_no_error_while_another_thread_sets() -> None:
    class Overtaken:
        """A lock that another thread has released since `locked` was asked."""

        def locked(self) -> bool:
            return True

        def release(self) -> None:
            raise RuntimeError("release unlocked lock")

    event = LockEvent()
    event._lock = Overtaken()  # type: ignore[assignment]
    event.set()


@pytest.mark.parametrize("timeout", [None, 0.0, LONG])
def test_an_event_that_is_set_stays_set_after_a_wait(timeout: float | None) -> None:
    event = LockEvent()
    event.set()
    assert event.wait(timeout)
    assert event.is_set()
    assert event.wait(timeout)
