"""A stall of the receiver does not count as silence of a source."""

from __future__ import annotations

import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_controllers.mode_manager.emergency_stop import EmergencyStop
from humanoid_controllers.mode_manager.impedance_monitor import (
    FRESH,
    ImpedanceMonitor,
    ImpedanceReport,
)
from humanoid_controllers.mode_manager.loop_liveness import LONGEST_TICK, LoopLiveness
from humanoid_controllers.mode_manager.stall_tolerant_clock import LONGEST_GAP, StallTolerantClock

STEP = 0.02  # [s] between two readings


class Listener:
    """Reads the clock as the mode manager does."""

    def __init__(self) -> None:
        self.time = 100.0
        self.clock = StallTolerantClock(lambda: self.time)

    def after(self, seconds: float, step: float = STEP) -> float:
        """Read the clock every `step` [s] for `seconds`; return the last reading."""
        for _ in range(round(seconds / step)):
            self.time += step
            shown = self.clock.now()
        return shown


@pytest.fixture
def listener() -> Listener:
    return Listener()


def test_clock_that_is_read_often_is_monotonic_time(listener: Listener) -> None:
    start = listener.clock.now()
    assert listener.after(5.0) - start == pytest.approx(5.0)
    assert listener.after(5.0, LONGEST_GAP) - start == pytest.approx(10.0)


def test_clock_counts_at_most_a_tenth_of_a_second_of_a_hold_up(listener: Listener) -> None:
    start = listener.clock.now()
    assert listener.after(60.0, 60.0) - start == pytest.approx(LONGEST_GAP)
    assert listener.after(1.0) - start == pytest.approx(1.0 + LONGEST_GAP)


def test_an_impedance_manager_that_published_meanwhile_is_not_reported_as_silent(
    listener: Listener,
) -> None:
    monitor = ImpedanceMonitor()
    report = ImpedanceReport(True, True, int(Mode.STANDBY), 1, "")
    monitor.reported(report, listener.after(0.1))
    # Timers run before subscriptions: messages wait for the end of this reading.
    assert not monitor.problem(Mode.STANDBY, 1, listener.after(1.0, 1.0))
    assert "silent" in monitor.problem(Mode.STANDBY, 1, listener.after(FRESH)).text


def test_a_heartbeat_that_went_on_meanwhile_is_no_stop(listener: Listener) -> None:
    stop = EmergencyStop({"desk": 0.5})
    stop.beat("desk", listener.clock.now())
    assert not stop.problem(listener.after(2.0, 2.0))
    stop.beat("desk", listener.clock.now())
    assert "heartbeat of desk ended" in stop.problem(listener.after(0.6)).text


def test_a_loop_that_was_held_up_along_with_its_listener_does_not_stand_still(
    listener: Listener,
) -> None:
    liveness = LoopLiveness()
    assert not liveness.problem(1, listener.clock.now())
    assert not liveness.problem(1, listener.after(30.0, 30.0))
    assert "stands still" in liveness.problem(1, listener.after(LONGEST_TICK)).text
