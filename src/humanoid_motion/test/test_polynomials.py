"""Polynomials between two states: closed forms, and extremes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.trajectory.polynomials import (
    cubic,
    extremes,
    quartic,
    quintic,
    shifted,
    values,
)

COUNT = 400


@pytest.fixture(scope="module")
def random_states() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Starts and ends of COUNT segments with one joint, and durations from 0.01 to 10 s."""
    rng = np.random.default_rng(3)
    ends = rng.normal(size=(2, COUNT, 3, 1)) * np.array([1.0, 3.0, 10.0])[:, None]
    return ends[0], ends[1], 10 ** rng.uniform(-2, 1, COUNT)


@pytest.mark.parametrize(
    ("make", "start_rows", "end_rows"), [(cubic, 2, 2), (quartic, 3, 2), (quintic, 3, 3)]
)
def test_a_polynomial_has_the_states_it_is_given(
    random_states: Any, make: Any, start_rows: int, end_rows: int
) -> None:
    start, end, duration = random_states
    found = make(start, end, duration)
    for i in range(COUNT):
        scale = np.abs(found[i]).T * duration[i] ** np.arange(6)
        here, there = values(found[i], 0.0), values(found[i], duration[i])
        rounding = 1e-12 * scale.sum() / duration[i] ** np.arange(3)[:, None]
        assert here[:start_rows] == pytest.approx(start[i, :start_rows], abs=1e-12)
        assert (np.abs(there - end[i]) < rounding)[:end_rows].all()


def test_from_rest_to_rest_a_quintic_has_the_peaks_of_the_least_jerk_way() -> None:
    """The peaks are v = 15/8 d/T at the middle, a = 10/sqrt(3) d/T² on both sides of it."""
    way, duration = 0.7, 1.6
    start, end = np.zeros((1, 3, 1)), np.zeros((1, 3, 1))
    end[0, 0] = way
    lowest, highest = extremes(quintic(start, end, np.array([duration])), np.array([duration]))
    speed, bend = 15 / 8 * way / duration, 10 / np.sqrt(3) * way / duration**2
    assert highest[:, 0, 0] == pytest.approx([way, speed, bend], rel=1e-12)
    assert lowest[:, 0, 0] == pytest.approx([0.0, 0.0, -bend], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("make", [cubic, quartic, quintic])
def test_the_extremes_are_those_of_a_dense_sampling(random_states: Any, make: Any) -> None:
    start, end, duration = random_states
    found = make(start, end, duration)
    lowest, highest = extremes(found, duration)
    for i in range(COUNT):
        dense = np.array([values(found[i], t) for t in np.linspace(0, duration[i], 300)])[:, :, 0]
        span = np.ptp(dense, axis=0) + np.abs(dense).max(axis=0) * 1e-9
        # Never less than the samples, and not much more: the samples are dense.
        assert (lowest[:, i, 0] <= dense.min(axis=0) + 1e-9 * span).all()
        assert (highest[:, i, 0] >= dense.max(axis=0) - 1e-9 * span).all()
        assert (lowest[:, i, 0] >= dense.min(axis=0) - 1e-3 * span).all()
        assert (highest[:, i, 0] <= dense.max(axis=0) + 1e-3 * span).all()


@pytest.mark.parametrize("degree", range(6))
def test_the_extremes_of_lower_degrees_need_no_leading_coefficient(degree: int) -> None:
    coefficients = np.zeros((1, 6, 1))
    coefficients[0, degree] = -2.0
    lowest, highest = extremes(coefficients, np.array([3.0]))
    ends = np.array([values(coefficients[0], t)[:, 0] for t in (0.0, 3.0)])
    assert lowest[:, 0, 0] == pytest.approx(ends.min(axis=0))
    assert highest[:, 0, 0] == pytest.approx(ends.max(axis=0))


def test_a_shifted_polynomial_is_the_same_later() -> None:
    coefficients = np.random.default_rng(5).normal(size=(6, 4))
    later = shifted(coefficients, 0.7)
    for time in (0.0, 0.4, 1.3):
        assert values(later, time) == pytest.approx(values(coefficients, 0.7 + time))
