"""Hysteresis deadbands: conditions to hold a joint and to drive it again."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_servo_controllers.servo.deadband import AverageDeadband, Deadband, SignDeadband


def ones(value: float) -> np.ndarray:
    return np.array([value])


def held(deadband: Deadband, ticks: list[tuple[float, float]]) -> str:
    """Return H (holds) or D (drives) for each tick of (command, error)."""
    return "".join(
        "H" if deadband.step(ones(command), ones(error))[0] else "D" for command, error in ticks
    )


def sign_deadband(inner: float = 0.1, multiplier: float = 3.0, step: float = 0.0) -> SignDeadband:
    return SignDeadband(ones(inner), multiplier, ones(step))


def average_deadband(
    inner: float = 0.015, multiplier: float = 5.0, window: int = 50
) -> AverageDeadband:
    return AverageDeadband(ones(inner), multiplier, ones(0.0), window)


def test_a_joint_holds_when_its_small_error_changes_sign_until_it_leaves_the_outer_band() -> None:
    deadband = sign_deadband()
    assert held(deadband, [(1, 0.5), (1, 0.2), (1, 0.09), (1, 0.04), (1, -0.02)]) == "DDDDH"
    assert held(deadband, [(1, 0.05), (1, -0.2), (1, 0.29), (1, 0.30), (1, 0.31)]) == "HHHHD"
    # An error of 0 counts as a change of sign.
    assert held(deadband, [(1, 0.2), (1, 0.08), (1, 0.0), (1, 0.02)]) == "DDHH"
    # A new command drives; in the inner band the joint approaches at once, until it leaves the
    # outer one.
    assert held(deadband, [(2, 0.9), (2, 0.05), (2, 0.25), (2, 0.31)]) == "DDDD"
    assert held(deadband, [(2, -0.09), (2, -0.01), (2, 0.01), (2, 0.1), (2, -0.35)]) == "DDHHD"


def test_a_command_that_changes_by_less_than_a_step_is_the_same() -> None:
    deadband = sign_deadband(step=0.01)
    assert held(deadband, [(1, 0.05), (1, -0.05), (1.005, -0.05), (1.02, -0.05)]) == "DHHD"


def test_a_command_that_creeps_is_new_once_it_has_moved_by_a_step() -> None:
    deadband = sign_deadband(step=0.01)
    assert held(deadband, [(1, 0.05), (1, -0.05)]) == "DH"
    assert "D" in held(deadband, [(1 + 0.004 * i, -0.05) for i in range(1, 10)])


def test_without_width_a_joint_never_holds() -> None:
    for deadband in (sign_deadband(inner=0.0), average_deadband(inner=0.0)):
        assert "H" not in held(deadband, [(0, 0.0), (0, 0.1), (0, -0.1), (0, 0.0)])


def test_the_average_of_errors_decides_and_the_outer_band_releases() -> None:
    found = held(average_deadband(), [(0, e) for e in [0.05] * 3 + [0.0] * 10])
    assert found[:9] == "D" * 9  # the 10th average is the edge itself
    assert found[10:] == "HHH"
    assert held(average_deadband(), [(0, 0.0149)] * 3) == "DHH"
    assert held(average_deadband(), [(0, 0.0151)] * 100) == "D" * 100


# First driven ticks after a step of demand and error at rest; 0: held without end.
@pytest.mark.parametrize(
    ("error", "again"),
    [(0.01, 0), (0.03, 0), (0.07, 0), (0.0765, 51), (0.077, 50), (0.08, 48), (0.1, 39), (0.2, 20)],
)
def test_joint_is_driven_after_a_step_and_again_when_the_average_has_followed(
    error: float, again: int
) -> None:
    deadband = average_deadband()
    held(deadband, [(0, 0.0)] * 60)
    found = held(deadband, [(1, error)] * 200)
    assert found[0] == "D"
    assert found.find("D", 1) + 1 == again


def test_a_large_step_is_driven_all_the_time() -> None:
    deadband = average_deadband()
    held(deadband, [(0, 0.0)] * 60)
    assert held(deadband, [(1, 0.5)] * 200) == "D" * 200


@pytest.mark.parametrize(
    ("push", "first"),
    [(0.05, 0), (0.074, 0), (0.0751, 51), (0.08, 48), (0.1, 39), (0.2, 20), (1.0, 4)],
)
def test_a_push_is_answered_when_the_average_leaves_the_outer_band(push: float, first: int) -> None:
    deadband = average_deadband()
    held(deadband, [(0, 0.0)] * 60)
    assert held(deadband, [(0, push)] * 200).find("D") + 1 == first


def test_a_short_window_follows_within_its_ticks() -> None:
    errors = [0.5, 0.5, 0.05, 0.05, -0.05, -0.05, -0.05, 0.25, 0.4, 0.4, 0.4, 0.4, 0.4, 0.05]
    deadband = average_deadband(inner=0.1, multiplier=3.0, window=4)
    found = held(deadband, [(0, e) for e in errors])
    assert found[:5] == "DDDDD"
    assert found[6:] == "HHHHHDDD"  # the 6th average is the edge itself


def test_joints_are_independent() -> None:
    deadband = SignDeadband(np.array([0.1, 0.1]), 3.0, np.zeros(2))
    deadband.step(np.zeros(2), np.array([0.05, 0.05]))
    np.testing.assert_array_equal(
        deadband.step(np.zeros(2), np.array([-0.05, 0.05])), [True, False]
    )
    np.testing.assert_array_equal(
        deadband.step(np.array([0.0, 1.0]), np.array([0.05, -0.05])), [True, False]
    )


def test_the_edge_of_the_outer_band_still_holds_while_another_joint_changes() -> None:
    deadband = SignDeadband(np.array([0.125, 0.125]), 2.0, np.zeros(2))
    command = np.zeros(2)
    deadband.step(command, np.array([0.0625, 0.0625]))
    deadband.step(command, np.array([-0.0625, 0.0625]))
    np.testing.assert_array_equal(deadband.step(command, np.array([0.25, -0.0625])), [True, True])


@given(
    errors=st.lists(st.floats(-1, 1), min_size=1, max_size=60),
    average=st.booleans(),
)
def test_a_joint_beyond_the_outer_band_for_a_window_is_driven(
    errors: list[float], *, average: bool
) -> None:
    deadband = average_deadband(0.1, 3.0, 5) if average else sign_deadband()
    held(deadband, [(0, e) for e in errors])
    assert held(deadband, [(0, 0.5)] * 10)[-1] == "D"


def test_a_reset_makes_the_next_command_a_new_one() -> None:
    for deadband in (sign_deadband(), average_deadband(0.1, 3.0, 4)):
        assert held(deadband, [(0, 0.05), (0, -0.01), (0, -0.01)])[-1] == "H"
        deadband.reset()
        assert held(deadband, [(0, 0.05)]) == "D"
