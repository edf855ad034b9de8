"""Friction maps and their addition to a demand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_servo_controllers.servo.friction_compensation import FrictionCompensation
from humanoid_servo_controllers.servo.friction_map import (
    FrictionCurve,
    FrictionMap,
    FrictionTable,
    flat,
)
from src.humanoid_servo_controllers.test.servos import MAP, curve


def friction(q: float, v: float, demand: float, deadband: float = 5.0) -> float:
    compensation = FrictionCompensation(FrictionTable([MAP]), np.array([deadband]))
    return float(compensation.effort(np.array([q]), np.array([v]), np.array([demand]))[0])


@pytest.mark.parametrize(
    ("q", "v", "demand", "expected"),
    [
        (0.25, 0, 50, 120),
        (0.25, 0, -50, -95),
        (0.5, 0, 50, 140),
        (1.25, 0, 50, 160),
        (-0.2, 0, 50, 100),  # the values at the ends continue
        (1.7, 0, 50, 200),
        (1.7, 0, -50, -130),
        (0.25, 0, 3, 72),
        (0.25, 0, -3, -57),
        (0.25, 0, 4.9, 117.6),
        (0.25, 0, -4.9, -93.1),
        (0.25, 0, 0.9, 21.6),
        (0.25, 0.01, 50, 120),
        (0.25, 0.06, 50, 44.145533),
        (0.25, -0.06, 50, 44.145533),
        (0.25, 0.11, 50, 16.240234),
        (0.25, 0.51, 50, 0.005448),
        (0.25, 0.06, 2, 17.658213),
    ],
)
def test_friction_depends_on_place_direction_speed_and_demand(
    q: float, v: float, demand: float, expected: float
) -> None:
    assert friction(q, v, demand) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("rest", "decay", "v", "part"),
    [
        (0.01, 0.0, 3.0, 1.0),  # the same at every speed
        (0.05, 2.0, -0.05, 1.0),
        (0.05, 2.0, -0.55, np.exp(-1.0)),
        (0.0, 2.0, 0.5, np.exp(-1.0)),
    ],
)
def test_the_fall_with_the_speed_is_chosen(
    rest: float, decay: float, v: float, part: float
) -> None:
    table = FrictionTable([MAP])
    compensation = FrictionCompensation(table, np.array([5.0]), rest, decay)
    found = compensation.effort(np.array([0.25]), np.array([v]), np.array([50.0]))
    assert found[0] == pytest.approx(120.0 * part)


def test_no_demand_has_no_direction_and_no_friction() -> None:
    assert friction(0.25, 0.0, 0.0, deadband=0.0) == 0.0
    assert friction(0.25, 0.0, 1e-9, deadband=0.0) == 120.0


def test_joints_have_maps_of_their_own() -> None:
    short = FrictionMap(curve((0, 1), (1, 3)), curve((0, -1), (1, -3)))
    table = FrictionTable([MAP, short, flat()])
    position = np.array([0.25, 0.5, 0.5])
    np.testing.assert_allclose(table.effort(position, np.array([True] * 3)), [120, 2, 0])
    np.testing.assert_allclose(table.effort(position, np.array([False] * 3)), [-95, -2, 0])
    np.testing.assert_allclose(table.effort(position + 9, np.array([True] * 3)), [200, 3, 0])
    assert not table.is_flat
    assert FrictionTable([flat(), flat()]).is_flat


@given(q=st.floats(-10, 10), v=st.floats(-5, 5), demand=st.floats(-500, 500))
def test_friction_never_works_against_the_demand_nor_exceeds_the_map(
    q: float, v: float, demand: float
) -> None:
    found = friction(q, v, demand)
    assert found * demand >= 0.0
    assert -150 <= found <= 200


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([(0, 1)], "1 points, expected 2 or more"),
        ([(0, 1), (0, 2)], "point 1: position 0 rad, expected more than 0 rad"),
        ([(1, 1), (0.5, 2)], "point 1: position 0.5 rad, expected more than 1 rad"),
        ([(0, 1), (1, float("nan"))], "point 1: "),
    ],
)
def test_a_wrong_curve_is_refused_by_its_point(
    points: list[tuple[float, float]], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        curve(*points)


def test_an_effort_of_the_wrong_sign_is_refused() -> None:
    ends = np.array([0.0, 1.0])
    with pytest.raises(ConfigError, match="point 1: effort -1 Nm, expected 0 or more"):
        FrictionCurve(ends, np.array([1.0, -1.0]), 1)
    with pytest.raises(ConfigError, match="point 0: effort 2 Nm, expected 0 or less"):
        FrictionCurve(ends, np.array([2.0, -1.0]), -1)
