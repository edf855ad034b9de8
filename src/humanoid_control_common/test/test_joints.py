"""The joint set and the joints' limits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import JointLimits, JointSet, SoftLimits

ABC = JointSet(("a", "b", "c"))


def test_indices_are_in_the_order_requested() -> None:
    assert ABC.indices(["c", "a"]).tolist() == [2, 0]
    assert ABC.indices([]).tolist() == []
    assert len(ABC) == 3


@given(st.permutations([f"j{i}" for i in range(14)]))
def test_indices_find_every_joint_of_any_order(order: list[str]) -> None:
    joints = JointSet(tuple(f"j{i}" for i in range(14)))
    values = np.arange(14.0)
    assert [f"j{int(v)}" for v in values[joints.indices(order)]] == order


def test_indices_index_even_when_nothing_is_requested() -> None:
    assert np.arange(3.0)[ABC.indices(())].tolist() == []


def test_unknown_joints_are_named_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"unknown joint x, y; known: a, b, c"):
        ABC.indices(["a", "x", "y"])


def test_repeated_joints_are_named() -> None:
    with pytest.raises(ConfigError, match=r"more than once: a, b"):
        ABC.indices(["b", "a", "a", "b", "c"])
    with pytest.raises(ConfigError, match=r"more than once: b$"):
        JointSet(("a", "b", "b"))


def test_a_set_must_not_be_empty() -> None:
    with pytest.raises(ConfigError, match="empty"):
        JointSet(())


def test_a_mask_becomes_names() -> None:
    assert ABC.named(np.array([True, False, True])) == "a, c"
    assert ABC.named(np.zeros(3, dtype=bool)) == ""


def test_sets_are_equal_by_their_names() -> None:
    assert JointSet(("a", "b", "c")) == ABC
    assert JointSet(("a", "c", "b")) != ABC


GOOD: dict[str, Any] = {
    "lower": [-1.0, -1.0],
    "upper": [1.0, 1.0],
    "velocity": [2.0, 2.0],
    "effort": [3.0, 3.0],
}


def _limits(**changes: Any) -> JointLimits:
    return JointLimits(**{k: np.array(v) for k, v in {**GOOD, **changes}.items()})


def test_sensible_limits_are_taken() -> None:
    assert _limits().upper.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    "changes",
    [
        {"lower": [1.0, -1.0]},
        {"lower": [2.0, -1.0]},
        {"lower": [np.nan, -1.0]},
        {"upper": [1.0, np.nan]},
        {"velocity": [0.0, 2.0]},
        {"velocity": [2.0, -1.0]},
        {"velocity": [np.nan, 2.0]},
        {"effort": [0.0, 3.0]},
        {"effort": [3.0, np.nan]},
        {"effort": [3.0]},
        {"gains": [[1.0, 1.0], [1.0, 0.0]]},
        {"gains": [[1.0, np.nan], [1.0, 1.0]]},
        {"gains": [[1.0], [1.0]]},
    ],
)
def test_limits_that_make_no_sense_are_refused(changes: Any) -> None:
    with pytest.raises(ConfigError):
        _limits(**changes)


def _soft(**changes: Any) -> SoftLimits:
    rows = {"lower": [-0.5] * 2, "upper": [0.5] * 2, "position_gain": [1.0] * 2}
    given = {**rows, "velocity_gain": [1.0, 2.0], **changes}
    return SoftLimits(**{k: np.array(v) for k, v in given.items()})


def test_targets_are_kept_in_the_soft_range_where_there_is_one() -> None:
    hard = _limits()
    soft = replace(hard, soft=_soft())
    assert (hard.target_lower.tolist(), hard.target_upper.tolist()) == ([-1.0] * 2, [1.0] * 2)
    assert (soft.target_lower.tolist(), soft.target_upper.tolist()) == ([-0.5] * 2, [0.5] * 2)


def test_the_limits_of_some_joints_come_in_the_order_requested() -> None:
    limits = replace(_limits(velocity=[2.0, 3.0]), soft=_soft()).of(np.array([1, 0]))
    assert limits.velocity.tolist() == [3.0, 2.0]
    assert limits.soft is not None
    assert limits.soft.velocity_gain.tolist() == [2.0, 1.0]
    assert _limits().of(np.array([1])).soft is None


@pytest.mark.parametrize(
    "changes",
    [
        {"lower": [-2.0, -0.5]},
        {"upper": [0.5, 2.0]},
        {"lower": [0.6, -0.5]},
        {"lower": [np.nan, -0.5]},
        {"position_gain": [1.0, -1.0]},
        {"velocity_gain": [np.nan, 1.0]},
        {"upper": [0.5]},
    ],
)
def test_soft_limits_that_make_no_sense_are_refused(changes: Any) -> None:
    with pytest.raises(ConfigError):
        replace(_limits(), soft=_soft(**changes))
