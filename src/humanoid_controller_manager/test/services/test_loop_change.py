"""A change in the loop wakes the one thread that waits for it."""

from __future__ import annotations

import threading

from humanoid_control_common.machine.linux import LinuxMachine
from humanoid_controller_manager.services.switcher import LoopChange


class Counted(LinuxMachine):
    """A machine on which time passes only in waits that end by their limit."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float | None] = []
        self.notified: list[LoopChange] = []  # one change in each wait

    def clock(self) -> float:
        return self.now

    def wait(self, event: threading.Event, seconds: float | None = None) -> bool:
        self.waits.append(seconds)
        if self.notified:
            self.notified.pop().notify()
        if not event.is_set():
            assert seconds is not None
            self.now += seconds
        return event.is_set()


def test_wait_for_a_true_condition_returns_at_once() -> None:
    machine = Counted()
    assert LoopChange(machine).wait_for(lambda: True, 1.0)
    assert machine.waits == []


def test_each_notification_is_a_check_and_the_wait_ends_with_the_time() -> None:
    machine = Counted()
    change, checks = LoopChange(machine), []
    machine.notified = [change, change]
    assert not change.wait_for(lambda: checks.append(machine.now), 1.0)
    assert len(machine.waits) == 3  # two changes, and the rest of the time
    assert machine.now == 1.0


def test_a_notification_between_the_check_and_the_wait_is_not_lost() -> None:
    machine = Counted()
    change = LoopChange(machine)
    answers = iter([False, True])

    def changes_during_the_check() -> bool:
        change.notify()
        return next(answers, True)

    assert change.wait_for(changes_during_the_check, 1.0)
    assert machine.now == 0.0


def test_the_end_of_the_process_ends_the_wait() -> None:
    machine = Counted()
    change = LoopChange(machine)
    change.end()
    assert not change.wait_for(lambda: False, 1.0)
    assert machine.waits == []
