"""Which gaps in a watcher's time excuse a robot that fell."""

from __future__ import annotations

import os
import select
from collections.abc import Callable

import pytest

from faults.stalls import Mirror, datagrams, longest, serial_line


@pytest.mark.parametrize(
    ("gaps", "counts"),
    [
        ([], 0.0),
        ([(1.0, 0.004)], 0.0),
        ([(1.0, 0.009)], 0.009),
        ([(1.0, 0.004), (1.0001, 0.005)], 0.0),  # one gap on two cores
        ([(1.0, 0.004), (1.02, 0.005)], 0.005),  # two frames in a row
        ([(1.0, 0.004), (1.1, 0.005)], 0.0),  # a frame between them was in time
        ([(1.0, 0.06), (5.0, 0.004)], 0.06),
    ],
)
def test_a_long_gap_counts_and_short_ones_only_in_a_row(
    gaps: list[tuple[float, float]], counts: float
) -> None:
    assert longest(gaps) == counts


@pytest.mark.parametrize("make", [datagrams, serial_line])
def test_a_mirror_waits_for_what_it_has_written_last(make: Callable[[], Mirror]) -> None:
    mirror = make()
    os.write(mirror.into, b"came late")
    for stamp in (1.0, 2.0):
        mirror.reflect(stamp)
        assert not select.select([mirror.out], [], [], 0.0)[0]
