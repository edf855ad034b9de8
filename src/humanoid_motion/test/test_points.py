"""Received points: an error names point, joint, found and expected value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_motion.errors import MotionRefusedError, Refusal
from humanoid_motion.trajectory.points import MOST_POINTS, Point, checked_points

NAMES = ["joint_0", "joint_1"]
NAN = float("nan")


def test_points_keep_the_order_of_their_names(joints: Any) -> None:
    points = checked_points(
        joints(3), ["joint_2", "joint_0"], [Point(1.0, [0.3, 0.1])], partial=True
    )
    assert points.rows.tolist() == [2, 0]
    assert points.positions.tolist() == [[0.3, 0.1]]
    assert points.velocities is None


@pytest.mark.parametrize(
    ("names", "points", "text"),
    [
        (NAMES, [], "0 points, expected 1 to 1000"),
        (NAMES, [Point(1.0, [0.0])] * (MOST_POINTS + 1), "1001 points"),
        (NAMES, [Point(1.0, [0.0])], "point 0: 1 positions, expected 2: one for each of joint_0"),
        (NAMES, [Point(1.0, [0, 0]), Point(2.0, [0, NAN])], "point 1, joint_1: nan in positions"),
        (NAMES, [Point(1.0, [0, 0], [0, NAN])], "point 0, joint_1: nan in velocities"),
        (NAMES, [Point(1.0, [0, 0], [0])], "point 0: 1 velocities, expected 2"),
        (NAMES, [Point(1.0, [0, 0], [0, 0]), Point(2.0, [0, 0])], "point 1: no velocities, but"),
        (NAMES, [Point(1.0, [0, 0], [], [0, 0])], "accelerations without velocities"),
        (NAMES, [Point(1.0, [0, 0], [0, 0.2])], "last point, joint_1: velocity 0.2 rad/s"),
        (NAMES, [Point(-1.0, [0, 0])], "point 0: time_from_start -1 s, expected 0.001 to 86400 s"),
        (NAMES, [Point(NAN, [0, 0])], "point 0: time_from_start nan s"),
        (NAMES, [Point(1e-200, [0, 0]), Point(1e-150, [0, 0])], "point 1: time_from_start 1e-150"),
        (NAMES, [Point(1e5, [0, 0])], "point 0: time_from_start 100000 s, expected 0.001 to"),
        (NAMES, [Point(1.0, [0, 1e7])], "point 0, joint_1: 10000000.0 in positions, expected a"),
        (NAMES, [Point(0.0, [0, 0])], "point 0: time_from_start 0 s, expected 0.001 to 86400 s"),
        (
            NAMES,
            [Point(1.0, [0, 0]), Point(1.0, [0, 0])],
            "point 1: time_from_start 1 s, expected 1.001 to 86400 s: after point 0",
        ),
    ],
)
def test_wrong_points_are_refused_by_place(
    joints: Any, names: list[str], points: list[Point], text: str
) -> None:
    with pytest.raises(MotionRefusedError, match=text) as refused:
        checked_points(joints(2), names, points, partial=False)
    assert refused.value.refusal is Refusal.INVALID_GOAL


@pytest.mark.parametrize(("moves", "taken"), [(1e-5, True), (0.01, False)])
def test_an_end_that_comes_right_after_its_twin_is_taken(
    joints: Any, moves: float, taken: bool
) -> None:
    points = [Point(0.1, [0.0]), Point(0.2, [1.0 - moves]), Point(0.2004, [1.0])]
    if not taken:
        with pytest.raises(MotionRefusedError, match="point 2: time_from_start"):
            checked_points(joints(1), NAMES[:1], points, partial=False)
        return
    found = checked_points(joints(1), NAMES[:1], points, partial=False)
    assert found.times.tolist() == [0.1, 0.2004]
    assert found.positions.tolist() == [[0.0], [1.0]]


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], "0 joint names, expected 1 to 2"),
        (["knee"], "unknown joint knee; known: joint_0, joint_1"),
        (["joint_0", "joint_0"], "joint listed more than once: joint_0"),
        (["joint_1"], "without joint_0: allow_partial_joints_goal is false"),
    ],
)
def test_wrong_joints_are_refused_by_name(joints: Any, names: list[str], text: str) -> None:
    with pytest.raises(MotionRefusedError, match=text) as refused:
        checked_points(joints(2), names, [Point(1.0, [0.0] * len(names))], partial=False)
    assert refused.value.refusal is Refusal.INVALID_JOINTS


def test_velocities_and_accelerations_are_kept(joints: Any) -> None:
    points = checked_points(
        joints(2),
        NAMES,
        [Point(1.0, [0, 0], [1, 2], [3, 4]), Point(2, [0, 0], [0, 0], [0, 0])],
        partial=False,
    )
    assert points.velocities is not None
    assert points.accelerations is not None
    assert np.array([points.velocities[0], points.accelerations[0]]).tolist() == [[1, 2], [3, 4]]
