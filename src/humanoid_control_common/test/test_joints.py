"""The joint set and the joints' limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.joints import JointLimits, JointSet

ABC = JointSet(("a", "b", "c"))


def test_indices_are_in_the_order_asked_for() -> None:
    assert ABC.indices(["c", "a"]).tolist() == [2, 0]
    assert ABC.indices([]).tolist() == []
    assert len(ABC) == 3


@given(st.permutations([f"j{i}" for i in range(14)]))
def test_indices_find_every_joint_of_any_order(order: list[str]) -> None:
    joints = JointSet(tuple(f"j{i}" for i in range(14)))
    values = np.arange(14.0)
    assert [f"j{int(v)}" for v in values[joints.indices(order)]] == order


def test_indices_index_even_when_nothing_is_asked_for() -> None:
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
    ],
)
def test_limits_that_make_no_sense_are_refused(changes: Any) -> None:
    with pytest.raises(ConfigError):
        _limits(**changes)
