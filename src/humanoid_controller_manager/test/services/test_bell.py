"""The bell of a switch wakes the one thread that waits for the loop."""

from __future__ import annotations

import threading

from humanoid_control_common.machine.linux import LinuxMachine
from humanoid_controller_manager.services.switcher import Bell


class Counted(LinuxMachine):
    """A machine on which time passes only in waits that end by their limit."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waits: list[float | None] = []
        self.rings: list[Bell] = []  # one ring in each wait

    def clock(self) -> float:
        return self.now

    def wait(self, event: threading.Event, seconds: float | None = None) -> bool:
        self.waits.append(seconds)
        if self.rings:
            self.rings.pop().ring()
        if not event.is_set():
            assert seconds is not None
            self.now += seconds
        return event.is_set()


def test_what_holds_already_is_not_waited_for() -> None:
    machine = Counted()
    assert Bell(machine).wait_for(lambda: True, 1.0)
    assert machine.waits == []


def test_each_ring_is_a_look_and_the_wait_ends_with_the_time() -> None:
    machine = Counted()
    bell, looks = Bell(machine), []
    machine.rings = [bell, bell]
    assert not bell.wait_for(lambda: looks.append(machine.now), 1.0)
    assert len(machine.waits) == 3  # two rings, and the rest of the time
    assert machine.now == 1.0


def test_a_ring_between_the_look_and_the_wait_is_not_lost() -> None:
    machine = Counted()
    bell = Bell(machine)
    answers = iter([False, True])

    def changes_while_it_is_looked_at() -> bool:
        bell.ring()
        return next(answers, True)

    assert bell.wait_for(changes_while_it_is_looked_at, 1.0)
    assert machine.now == 0.0


def test_the_end_of_the_process_ends_the_wait() -> None:
    machine = Counted()
    bell = Bell(machine)
    bell.end()
    assert not bell.wait_for(lambda: False, 1.0)
    assert machine.waits == []
