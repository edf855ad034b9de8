"""The recorder works in raw angles, independent of the calibration of the robot."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_bringup.calibration.formulas import Interval
from humanoid_bringup.calibration.sweep import SweepRecorder
from humanoid_control_common.robot.calibration import Calibration
from humanoid_control_common.robot.joints import JointSet

NAMES = ("a", "b")
ALL = np.array([True, True])
samples = st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=20)
settings = st.tuples(st.sampled_from([-1.0, 1.0]), st.floats(-9, 9))


def recorder(
    direction: tuple[float, ...] = (1, 1), offset: tuple[float, ...] = (0, 0)
) -> SweepRecorder:
    in_force = Calibration(np.array(direction, float), np.array(offset, float))
    return SweepRecorder(JointSet(NAMES), in_force)


@given(settings, settings, samples)
def test_raw_extremes_are_the_same_under_every_calibration_in_force(
    a: tuple[float, float], b: tuple[float, float], raw: list[tuple[float, float]]
) -> None:
    direction, offset = (a[0], b[0]), (a[1], b[1])
    found = recorder(direction, offset)
    for sample in raw:
        joint = [d * (r - o) for d, r, o in zip(direction, sample, offset, strict=True)]
        found.seen(list(NAMES), joint, ALL)
    for place in range(2):
        column = [sample[place] for sample in raw]
        sweep = found.sweep(place)
        assert sweep is not None
        assert (sweep.low, sweep.high) == pytest.approx((min(column), max(column)), abs=1e-9)
    assert found.raw.tolist() == pytest.approx(list(raw[-1]), abs=1e-9)


def test_only_the_selected_joints_are_recorded() -> None:
    found = recorder()
    found.seen(["a", "b"], [0.0, 0.0], np.array([True, False]))
    found.seen(["a", "b"], [1.0, 2.0], np.array([True, False]))
    assert found.sweep(0) == Interval(0.0, 1.0)
    assert found.sweep(1) is None
    assert found.raw.tolist() == [1.0, 2.0]


def test_joints_are_found_by_name_and_missing_or_invalid_values_are_ignored() -> None:
    found = recorder()
    found.seen(["b", "elsewhere", "a"], [2.0, 9.0, 1.0], ALL)
    found.seen(["b"], [3.0], ALL)
    found.seen(["a", "b"], [float("nan"), float("inf")], ALL)
    assert found.sweep(0) == Interval(1.0, 1.0)
    assert found.sweep(1) == Interval(2.0, 3.0)
    assert found.raw.tolist() == [1.0, 3.0]


def test_a_sweep_can_be_begun_again() -> None:
    found = recorder()
    found.seen(["a", "b"], [5.0, 5.0], ALL)
    found.forget(0)
    assert found.sweep(0) is None
    found.seen(["a", "b"], [1.0, 1.0], ALL)
    assert found.sweep(0) == Interval(1.0, 1.0)
    assert found.sweep(1) == Interval(1.0, 5.0)
