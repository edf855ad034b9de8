"""Drives whose clocks drift without DC frames: none is enabled before its clock has converged.

This holds for any drift. A drive reports the difference (0x092C), and is enabled again once its
clock is right.
"""

from __future__ import annotations

import pytest

CONVERGED = 1000  # [ns]
HEALTHY = 5687
RATE = 50.0  # [Hz]
GAPS = (1.0, 10.0, pytest.param(60.0, marks=pytest.mark.soak))  # [s] without DC frames
DRIFTS = (0.0, 20.0, 100.0)  # [ppm]
TIMEOUT = 60.0  # [s] of ring time until the drives are enabled again


class EnabledDrives:
    """Records the drives that come into operation in each frame, and their clock errors."""

    def __init__(self, bench) -> None:
        self.bench = bench
        self.enabled = [True] * bench.count
        self.early: list[tuple[int, int]] = []  # slave, how far its clock was off [ns]
        bench.time.on_frame = self._observe

    def _observe(self, _frame: bytes) -> None:
        for slave, drive in enumerate(self.bench.time.drives):
            enabled = drive.statusword == HEALTHY
            off = self.bench.time.ring.slaves[slave].clock.difference
            if enabled and not self.enabled[slave] and off >= CONVERGED:
                self.early.append((slave, off))
            self.enabled[slave] = enabled


def in_operation(make_bench, **facts: float):
    bench = make_bench(3, assume=facts)
    bench.activate()
    bench.tick(20)
    assert bench.of_drives("statusword") == [HEALTHY] * 3
    return bench


def come_back(bench, within: float = TIMEOUT) -> None:
    """Clear the faults until that succeeds."""
    end = bench.time.clock() + within
    while bench.time.clock() < end:
        bench.system.reset_faults()
        for _ in range(round(4 * RATE)):
            bench.tick()
            if bench.system.safety().level == 0:
                return
    raise AssertionError(bench.system.safety().message)


def assert_all_well(bench, observed: EnabledDrives) -> None:
    bench.tick(10)
    assert observed.early == []
    assert bench.of_drives("statusword") == [HEALTHY] * 3
    assert max(bench.of_drives("dc_difference_ns")) < CONVERGED


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("gap", GAPS)
def test_after_a_repaired_cut_no_drive_is_enabled_before_its_clock_is_right(
    make_bench, gap: float, drift: float
) -> None:
    bench = in_operation(make_bench, drift_ppm=drift)
    observed = EnabledDrives(bench)
    bench.control.cut(0)
    bench.tick(round(gap * RATE))
    assert bench.of_drives("statusword")[1:] != [HEALTHY] * 2
    bench.control.mend()
    off = bench.of_drives("dc_difference_ns")
    assert off[0] < CONVERGED
    assert (min(off[1:]) > CONVERGED) is (drift > 0.0)
    come_back(bench)
    assert_all_well(bench, observed)


@pytest.mark.parametrize("drift", DRIFTS)
@pytest.mark.parametrize("gap", GAPS)
def test_after_a_pause_of_the_master_no_drive_is_enabled_before_its_clock_is_right(
    make_bench, gap: float, drift: float
) -> None:
    bench = in_operation(make_bench, drift_ppm=drift)
    observed = EnabledDrives(bench)
    bench.time.advance(gap)
    assert HEALTHY not in bench.of_drives("statusword")
    off = bench.of_drives("dc_difference_ns")
    assert (min(off[1:]) > CONVERGED) is (drift > 0.0)
    come_back(bench)
    assert_all_well(bench, observed)


def test_drive_whose_clock_has_drifted_is_named_until_it_is_right(make_bench) -> None:
    bench = in_operation(make_bench, drift_ppm=100.0)
    bench.time.advance(10.0)
    bench.tick(3)
    bench.system.reset_faults()
    bench.tick(round(3.2 * RATE))
    message = bench.system.safety().message
    assert "j1: not enabled: its clock is " in message
    assert "j0" not in message


def test_drives_whose_clocks_never_stay_right_are_never_enabled_again(make_bench) -> None:
    """Without a correction of their rate, 20 ppm at 50 Hz are 17 us between two frames."""
    bench = in_operation(make_bench, drift_ppm=20.0, keeps_rate=0.0)
    observed = EnabledDrives(bench)
    bench.time.advance(1.0)
    with pytest.raises(AssertionError, match=r"j1: not enabled: its clock is .* ns off"):
        come_back(bench, within=10.0)
    assert observed.early == []
    assert bench.of_drives("statusword")[1:] != [HEALTHY] * 2
