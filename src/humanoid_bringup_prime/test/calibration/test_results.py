"""The new calibration of a joint, and its remarks."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_bringup.calibration.formulas import Interval, JointCalibration, flipped
from humanoid_bringup.calibration.results import JointResult, joint_result

ELBOW = Interval(-2.3, 0.35)
PRIOR = JointCalibration(-1, 0.75)


def result(sweep: Interval | None, prior: JointCalibration = PRIOR, **options: Any) -> JointResult:
    limits = options.pop("limits", ELBOW)
    return joint_result("elbow", prior, sweep, limits, flip=options.pop("flip", False))


def stops_of(truth: JointCalibration, limits: Interval = ELBOW) -> Interval:
    stops = sorted(truth.direction * s + truth.homing_offset for s in (limits.low, limits.high))
    return Interval(*stops)


@given(st.floats(-10.0, 10.0), st.floats(0.0, 0.499))
def test_a_sweep_under_half_a_radian_keeps_the_prior_values(low: float, width: float) -> None:
    found = result(Interval(low, low + width))
    assert (found.calibration, found.changed, found.origin) == (PRIOR, False, "kept")


def test_half_a_radian_counts_as_a_sweep() -> None:
    assert result(Interval(0.0, 0.5)).changed


def test_joint_without_a_sweep_keeps_its_calibration_and_has_no_coverage() -> None:
    found = result(None)
    assert (found.calibration, found.changed, found.coverage, found.warnings) == (
        PRIOR,
        False,
        None,
        (),
    )


def test_a_good_sweep_is_reported_as_such() -> None:
    truth = JointCalibration(-1, 0.4)
    found = result(stops_of(truth))
    assert found.calibration.homing_offset == pytest.approx(0.4)
    assert found.coverage == pytest.approx(1.0)
    assert found.warnings == ()
    assert found.origin == "swept 2.650 of 2.650 rad"


def test_a_flip_without_a_sweep_moves_the_offset() -> None:
    found = result(None, flip=True)
    assert found.calibration == flipped(PRIOR, ELBOW)
    assert (found.changed, found.origin) == (True, "direction flipped")


def test_a_flip_with_a_sweep_uses_the_sweep() -> None:
    found = result(stops_of(JointCalibration(1, 0.4)), flip=True)
    assert found.calibration.direction == 1
    assert found.calibration.homing_offset == pytest.approx(0.4)
    assert found.origin.endswith(", direction flipped")


def test_an_offset_beyond_pi_suggests_a_wrong_direction() -> None:
    found = result(None, JointCalibration(1, -math.pi - 0.01))
    (warning,) = found.warnings
    assert "beyond ±π" in warning
    assert result(None, JointCalibration(1, math.pi)).warnings == ()


def test_a_sampled_range_that_misses_the_urdf_s_suggests_a_wrong_direction() -> None:
    truth = JointCalibration(1, -1.0)  # sampled -3.3 … -0.65
    limits = Interval(0.7, 3.35)
    (warning,) = result(Interval(-3.3, -0.65), JointCalibration(1, 0.0), limits=limits).warnings[
        -1:
    ]
    assert "misses the URDF's +0.70 … +3.35 rad: is the direction the wrong one?" in warning
    assert result(stops_of(truth), JointCalibration(1, 0.0)).warnings == ()


def test_a_range_that_misses_in_both_directions_is_a_warning() -> None:
    warnings = " ".join(result(Interval(10.0, 12.65), JointCalibration(1, 0.0)).warnings)
    assert "check the direction" in warnings


@pytest.mark.parametrize(
    ("width", "warning"),
    [(2.0, "only 75% of the URDF's range: were both stops reached?"), (2.9, "109% of the URDF's")],
)
def test_a_range_that_is_not_the_urdf_s_is_remarked(width: float, warning: str) -> None:
    (found,) = result(Interval(-2.0, -2.0 + width), JointCalibration(1, 0.0)).warnings
    assert warning in found
