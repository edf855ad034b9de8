"""From a sweep to direction and offset: each true mounting is found, flipped or not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_bringup.calibration.formulas import Interval, JointCalibration, flipped, swept
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.calibration import Calibration

angles = st.floats(-3.2, 3.2)
offsets = st.floats(-20.0, 20.0)
directions = st.sampled_from([-1, 1])
ranges = st.tuples(angles, st.floats(0.6, 6.0)).map(lambda p: Interval(p[0], p[0] + p[1]))


def raw_stops(truth: JointCalibration, limits: Interval) -> Interval:
    """Return the raw angles of the two stops of a joint with this mounting."""
    stops = [truth.direction * stop + truth.homing_offset for stop in (limits.low, limits.high)]
    return Interval(min(stops), max(stops))


def close(calibration: JointCalibration) -> object:
    return pytest.approx((calibration.direction, calibration.homing_offset), abs=1e-9)


def pair(calibration: JointCalibration) -> tuple[int, float]:
    return calibration.direction, calibration.homing_offset


@given(directions, offsets, ranges)
def test_a_sweep_to_both_stops_finds_the_true_offset(
    direction: int, offset: float, limits: Interval
) -> None:
    truth = JointCalibration(direction, offset)
    assert pair(swept(raw_stops(truth, limits), limits, direction)) == close(truth)


@given(directions, offsets, ranges)
def test_flip_corrects_a_wrong_direction_without_a_new_sweep(
    direction: int, offset: float, limits: Interval
) -> None:
    truth = JointCalibration(direction, offset)
    mistaken = swept(raw_stops(truth, limits), limits, -direction)
    assert mistaken.direction == -direction
    assert pair(flipped(mistaken, limits)) == close(truth)


@given(directions, offsets, ranges, ranges)
def test_a_flip_gives_what_a_sweep_in_that_direction_would_have_given(
    direction: int, offset: float, limits: Interval, found: Interval
) -> None:
    """The swept range may differ from that of the URDF."""
    raw = Interval(found.low + offset, found.high + offset)
    there = swept(raw, limits, direction)
    assert pair(flipped(there, limits)) == close(swept(raw, limits, -direction))


@given(directions, offsets, ranges)
def test_two_flips_change_nothing(direction: int, offset: float, limits: Interval) -> None:
    calibration = JointCalibration(direction, offset)
    assert pair(flipped(flipped(calibration, limits), limits)) == close(calibration)


@given(directions, offsets, ranges, st.floats(0.0, 0.05), st.floats(0.0, 0.05))
def test_offset_error_of_yielding_stops_is_half_of_their_difference(
    direction: int, offset: float, limits: Interval, low: float, high: float
) -> None:
    truth = JointCalibration(direction, offset)
    real = Interval(limits.low - low, limits.high + high)
    found = swept(raw_stops(truth, real), limits, direction)
    assert abs(found.homing_offset - offset) <= abs(high - low) / 2 + 1e-9


@given(directions, offsets, ranges, directions)
def test_the_found_calibration_puts_the_stops_where_the_urdf_has_them(
    direction: int, offset: float, limits: Interval, guess: int
) -> None:
    raw = raw_stops(JointCalibration(direction, offset), limits)
    calibration = swept(raw, limits, guess)
    signs, zeros = np.array([float(calibration.direction)]), np.array([calibration.homing_offset])
    joint = Calibration(signs, zeros).position_to_joint(np.array([raw.low, raw.high]))
    stops = sorted(joint.tolist())
    assert stops == pytest.approx([limits.low, limits.high], abs=1e-9)


def test_offsets_of_sweep_and_flip_follow_the_documented_formulas() -> None:
    # min 1.2, max 3.9 of direction · raw; limits -2.3 and 0.35.
    limits = Interval(-2.3, 0.35)
    assert swept(Interval(1.2, 3.9), limits, 1).homing_offset == pytest.approx(
        0.5 * ((1.2 + 2.3) + (3.9 - 0.35))
    )
    assert swept(Interval(-3.9, -1.2), limits, -1).homing_offset == pytest.approx(
        -0.5 * ((1.2 + 2.3) + (3.9 - 0.35))
    )
    assert flipped(JointCalibration(-1, 0.5), limits) == JointCalibration(
        1, 0.5 + (-1) * (-2.3 + 0.35)
    )


def test_a_range_upside_down_is_refused() -> None:
    with pytest.raises(ConfigError, match="from 1 to -1 rad"):
        Interval(1.0, -1.0)
    with pytest.raises(ConfigError):
        Interval(0.0, math.nan)
