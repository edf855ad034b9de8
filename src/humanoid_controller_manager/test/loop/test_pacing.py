"""Pacing and statistics, on a clock that only the test advances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_support.machine import TestMachine

from humanoid_controller_manager.loop.pacing import WINDOW, Pacer, TimingStatistics

PERIOD = 0.25  # [s], exact in binary


class Wall(TestMachine):
    """A clock that sleeping advances."""

    def __init__(self) -> None:
        super().__init__(lambda: self.now)
        self.now = 10.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        assert seconds > 0.0
        self.slept.append(seconds)
        self.now += seconds


def _pacer(wall: Wall, period: float = PERIOD) -> tuple[Pacer, TimingStatistics]:
    statistics = TimingStatistics()
    return Pacer(period, statistics, wall, lambda _deadline: None), statistics


def test_ticks_fall_on_multiples_of_the_period_whatever_they_take() -> None:
    wall = Wall()
    pacer, statistics = _pacer(wall)
    for i, work in enumerate([0.0, 0.1, 0.2, 0.05] * 50, start=1):
        pacer.wait()
        assert wall.now == 10.0 + i * PERIOD
        wall.now += work
    assert statistics.overruns == 0


def test_a_component_that_leaves_idle_time_unused_does_not_make_the_loop_run_free() -> None:
    wall = Wall()

    def work(deadline: float) -> None:
        assert deadline == pytest.approx(wall.now + PERIOD)
        wall.now += 0.25 * PERIOD

    pacer = Pacer(PERIOD, TimingStatistics(), wall, work)
    pacer.wait()
    assert wall.slept == [pytest.approx(0.75 * PERIOD)]
    assert wall.now == pytest.approx(10.0 + PERIOD)


def test_a_little_lateness_is_made_up_for_at_once() -> None:
    wall = Wall()
    pacer, statistics = _pacer(wall)
    pacer.wait()
    wall.now += 1.5 * PERIOD
    pacer.wait()  # half a period late: at once
    assert wall.now == 10.0 + 2.5 * PERIOD
    pacer.wait()
    assert wall.now == 10.0 + 3 * PERIOD
    assert statistics.overruns == 0


@pytest.mark.parametrize("late", [2.0, 2.5, 7.0, 7.5])
def test_missed_ticks_are_skipped_and_counted_as_one_overrun(late: float) -> None:
    wall = Wall()
    pacer, statistics = _pacer(wall)
    pacer.wait()
    wall.now += late * PERIOD
    before = len(wall.slept)
    pacer.wait()
    assert len(wall.slept) == before  # the late tick begins at once
    assert statistics.overruns == 1
    pacer.wait()
    assert wall.now == 10.0 + (np.floor(late) + 2) * PERIOD
    pacer.wait()
    assert wall.now == 10.0 + (np.floor(late) + 3) * PERIOD
    assert statistics.overruns == 1


@given(st.lists(st.floats(0.0, 4.0), min_size=1, max_size=40))
def test_the_grid_is_never_left_and_no_tick_comes_early(works: list[float]) -> None:
    wall = Wall()
    pacer, _ = _pacer(wall)
    for work in works:
        asleep = len(wall.slept)
        pacer.wait()
        if len(wall.slept) > asleep:
            phase = (wall.now - 10.0) / PERIOD
            assert phase == pytest.approx(round(phase), abs=1e-6)
        wall.now += work


def test_a_correction_moves_this_tick_and_the_grid() -> None:
    wall = Wall()
    pacer, statistics = _pacer(wall)
    pacer.wait(0.0625)
    assert wall.now == 10.0 + PERIOD + 0.0625
    pacer.wait()
    pacer.wait(-0.03125)
    assert wall.now == 10.0 + 3 * PERIOD + 0.03125
    assert statistics.overruns == 0


def test_without_a_period_there_is_no_wait() -> None:
    wall = Wall()
    pacer, statistics = _pacer(wall, 0.0)
    wall.now += 100.0
    pacer.wait()
    assert (wall.slept, statistics.overruns) == ([], 0)


def _recorded(starts: np.ndarray, executions: np.ndarray) -> TimingStatistics:
    statistics = TimingStatistics()
    for start, execution in zip(starts, executions, strict=True):
        statistics.record(float(start), float(execution))
    return statistics


@pytest.mark.parametrize("count", [3, 100, WINDOW - 1, WINDOW, WINDOW + 1, 2 * WINDOW + 17])
def test_the_summary_is_that_of_numpy_over_the_latest_ticks(count: int) -> None:
    random = np.random.default_rng(3)
    starts = np.cumsum(random.uniform(0.001, 0.02, count))
    executions = random.uniform(1e-5, 1e-3, count)

    summary = _recorded(starts, executions).summary()

    kept = count if count < WINDOW else WINDOW - 1
    periods, latest = np.diff(starts[-kept:]), executions[-kept:]
    assert summary.ticks == count
    assert summary.period_mean == pytest.approx(periods.mean())
    assert summary.period_p99 == pytest.approx(np.percentile(periods, 99))
    assert summary.period_max == periods.max()
    assert summary.execution_median == pytest.approx(np.median(latest))
    assert summary.execution_p99 == pytest.approx(np.percentile(latest, 99))
    assert summary.execution_max == latest.max()


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_summary_of_almost_nothing_is_zero(count: int) -> None:
    summary = _recorded(np.arange(count) + 1.0, np.ones(count)).summary()
    assert summary.ticks == count
    assert summary.period_mean == summary.period_max == 0.0


def test_statistics_drop_ticks_older_than_the_window() -> None:
    starts = np.arange(WINDOW + 50, dtype=float)
    executions = np.full(WINDOW + 50, 1e-4)
    executions[10] = 5.0
    assert _recorded(starts, executions).summary().execution_max == 1e-4
