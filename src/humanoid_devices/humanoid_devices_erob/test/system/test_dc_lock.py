"""The phase of the loop's frames settles half a period from SYNC0, for any drift of the clocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.master.distributed_clock import LARGEST, DcLock

PERIOD = 20_000_000  # [ns]


def run(lock: DcLock, phase: float, drift: float, cycles: int, jitter: float = 0.0) -> list[float]:
    """Phases [periods] of the frames when the loop's clock gains `drift` on the bus's."""
    noise = np.random.default_rng(1)
    time, phases = 10**18 + phase * PERIOD, []
    for _ in range(cycles):
        seen = time + noise.normal(0.0, jitter)
        phases.append(time % PERIOD / PERIOD)
        lock.update(int(seen))
        time += PERIOD * (1.0 + drift) + lock.take_correction() * 1e9
    return phases


@pytest.mark.parametrize("phase", [0.01, 0.3, 0.5, 0.8, 0.99])
@pytest.mark.parametrize("drift", [0.0, 2e-4, -2e-4])
def test_frames_settle_half_a_period_after_sync0(phase: float, drift: float) -> None:
    phases = run(DcLock(PERIOD), phase, drift, 300)
    assert np.abs(np.array(phases[200:]) - 0.5).max() < 0.005


@given(phase=st.floats(0.001, 0.999), drift=st.floats(-5e-4, 5e-4))
def test_frames_never_pass_a_sync0_on_their_way(phase: float, drift: float) -> None:
    phases = np.array(run(DcLock(PERIOD), phase, drift, 300))
    assert np.abs(np.diff(phases)).max() < 0.5


def test_no_cycle_is_changed_by_more_than_a_small_share() -> None:
    lock = DcLock(PERIOD)
    for time in range(0, 40 * PERIOD, 7_777_777):
        lock.update(time)
        assert abs(lock.take_correction()) <= LARGEST * PERIOD * 1e-9


def test_jitter_of_the_frames_is_hardly_passed_on() -> None:
    phases = run(DcLock(PERIOD), 0.5, 0.0, 2000, jitter=0.005 * PERIOD)
    assert np.std(phases[200:]) < 0.4 * 0.005


def test_correction_is_given_once() -> None:
    lock = DcLock(PERIOD)
    lock.update(0)
    assert lock.take_correction() > 0.0
    assert lock.take_correction() == 0.0


def test_late_frame_makes_the_next_come_sooner() -> None:
    lock = DcLock(PERIOD)
    lock.update(int(0.6 * PERIOD))
    assert lock.error == pytest.approx(0.1 * PERIOD * 1e-9)
    assert lock.take_correction() < 0.0


@pytest.mark.parametrize("drift", [2e-4, -2e-4])
def test_phase_stays_while_slaves_behind_the_reference_clock_are_missing(
    make_bench, drift: float
) -> None:
    bench = make_bench(4)
    bench.activate()
    bench.period *= 1.0 + drift
    bench.tick(300)
    bench.control.cut(1)
    phases = []
    for _ in range(2000):
        bench.tick()
        phases.append(bench.system._master.dc_time % PERIOD / PERIOD)
    assert np.abs(np.array(phases) - 0.5).max() < 0.05
