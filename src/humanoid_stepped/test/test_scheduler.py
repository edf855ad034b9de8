"""Tasks, time and order on the simulated clock."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random
from threading import Event
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_stepped.scheduler import (
    LATENCY,
    NANO,
    NEVER,
    EndlessLoopError,
    Flag,
    Process,
    Scheduler,
)

PROCESS: Final = Process("any")


class Still:
    """A world without events; it records the time of its advances."""

    next_event = NEVER
    reached = 0

    def advance(self, end: int) -> int:
        assert end >= self.reached, "time goes backwards"
        self.reached = end
        return end


def scheduler(seed: int = 1) -> Scheduler:
    return Scheduler(Random(seed), Still())


def start(on: Scheduler, run: Callable[[], None], process: Process = PROCESS) -> None:
    on.start(process, "task", run)


def test_a_task_runs_when_it_is_due_and_at_most_the_latency_later() -> None:
    on = scheduler()
    woken: list[int] = []

    def run() -> None:
        for _ in range(100):
            begin = on.now
            on.wait(None, 0.01)
            woken.append(on.now - begin - 10_000_000)

    start(on, run)
    on.run_for(2.0)
    assert len(woken) == 100
    assert all(0 <= late <= LATENCY for late in woken)
    assert len(set(woken)) > 50


@given(st.integers(0, 1000))
def test_the_seed_decides_the_order_of_those_that_are_due_together(seed: int) -> None:
    def order(of: int) -> list[str]:
        on, found = scheduler(of), list[str]()
        on.latency = 0
        for name in "abcdef":
            start(on, lambda name=name: found.append(name))  # type: ignore[misc]
        on.run_for(0.0)
        return found

    assert order(seed) == order(seed)
    assert sorted(order(seed)) == list("abcdef")


def test_seed_decides_the_order_of_tasks() -> None:
    def first(seed: int) -> str:
        on, found = scheduler(seed), list[str]()
        for name in "ab":
            start(on, lambda name=name: found.append(name))  # type: ignore[misc]
        on.run_for(0.0)
        return found[0]

    assert {first(seed) for seed in range(20)} == {"a", "b"}


def test_wait_ends_with_its_event_or_its_timeout() -> None:
    on, event, found = scheduler(), Event(), list[tuple[bool, int]]()
    on.latency = 0

    def run() -> None:
        found.append((on.wait(event, 0.05), on.now))
        found.append((on.wait(event, None), on.now))

    start(on, run)
    on.call_at(NANO, event.set)
    on.run_for(2.0)
    assert found == [(False, 50_000_000), (True, NANO)]


def test_a_process_that_is_held_runs_nothing_until_it_is_resumed() -> None:
    on, process, found = scheduler(), Process("held"), list[int]()

    def run() -> None:
        while True:
            on.wait(None, 0.01)
            found.append(on.now)

    start(on, run, process)
    on.run_for(0.1)
    process.held_until = on.now + NANO
    before = len(found)
    on.run_for(0.9)
    assert len(found) == before
    on.run_for(0.2)
    assert len(found) > before


def test_killed_process_runs_no_statement_not_even_a_finally_block() -> None:
    on, process, found = scheduler(), Process("killed"), list[str]()

    def run() -> None:
        try:
            on.wait(None, 0.01)
        finally:
            found.append("unwound")

    start(on, run, process)
    on.run_for(0.001)
    (task,) = on.tasks
    process.killed = True
    on.run_for(1.0)
    assert found == []
    assert not task.is_alive()


def test_an_error_ends_its_task_alone_and_is_kept() -> None:
    on, found = scheduler(), list[int]()

    def fail() -> None:
        raise KeyError("q")

    start(on, fail)
    start(on, lambda: found.append(1))
    on.run_for(0.1)
    assert [repr(task.error) for task in on.failed] == ["KeyError('q')"]
    assert found == [1]


def test_a_task_that_leaves_no_time_to_others_is_named() -> None:
    on = scheduler()
    on.latency = 0

    def spin() -> None:
        while True:
            on.wait(None, 0.0)

    start(on, spin)
    with pytest.raises(EndlessLoopError, match="any: task leaves no time to others"):
        on.run_for(1.0)


def test_a_wait_between_two_tasks_lets_time_pass() -> None:
    on, event = scheduler(), Event()
    on.call_at(NANO // 2, event.set)
    assert not on.wait(event, 0.25)
    assert on.now == NANO // 4
    assert on.wait(event, 10.0)
    assert on.now == NANO // 2


def test_no_other_task_runs_while_a_process_advances_the_time() -> None:
    """A waiting task is late; other tasks and the world are stopped."""
    on, other = scheduler(), Process("other")
    looks: list[int] = []

    def look() -> None:
        while True:
            looks.append(on.now)
            on.wait(None, 0.1)

    def fail() -> None:
        on.wait(None, 0.1)
        raise AssertionError("it does not stand still")

    start(on, look)
    start(on, fail, other)
    assert on.run_alone("any", 0.6, lambda: len(looks) > 5, timeout=10.0)
    assert on.failed == []
    assert all(late - early > 500_000_000 for early, late in pairwise(looks[1:]))
    assert not on.run_alone("any", 0.6, lambda: False, timeout=1.0)


@pytest.mark.parametrize("kind", [Event, Flag])
def test_a_flag_ends_a_wait_as_an_event_does(kind: type[Event]) -> None:
    found = scheduler()
    event = kind()
    seen: list[object] = []

    def wait() -> None:
        seen.append(found.wait(event, 1.0))
        event.clear()
        seen.append(found.wait(event, 0.5))

    found.start(PROCESS, "waiting", wait)
    found.call_at(NANO // 4, event.set)
    found.run_until(NANO // 2)
    assert seen == [True]
    found.run_until(NANO)
    assert seen == [True, False]
    assert not event.is_set()


def test_timed_wait_for_a_flag_is_refused() -> None:
    with pytest.raises(RuntimeError, match="the only thread would stand still"):
        Flag().wait(1.0)
