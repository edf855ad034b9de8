"""Waits of the middleware while the system's clock is set."""

from __future__ import annotations

from threading import Condition, active_count

from humanoid_control_common.middleware.executor_wakeup import kept_awake


class Sleeper:
    """Waits without end until it is woken."""

    def __init__(self) -> None:
        self._condition = Condition()
        self.woken = 0

    def wake(self) -> None:
        with self._condition:
            self.woken += 1
            self._condition.notify_all()

    def wait_for(self, times: int) -> bool:
        with self._condition:
            return self._condition.wait_for(lambda: self.woken >= times, timeout=30.0)


def test_a_wait_is_ended_again_and_again() -> None:
    sleeper = Sleeper()
    with kept_awake(sleeper.wake):
        assert sleeper.wait_for(3)


def test_no_executor_is_woken_afterwards() -> None:
    before, sleeper = active_count(), Sleeper()
    with kept_awake(sleeper.wake):
        sleeper.wait_for(1)
    assert active_count() == before
