"""A trajectory through points continues the present state and stays within the limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.point_trajectory import trajectory_through
from humanoid_motion.trajectory.points import Point, checked_points
from humanoid_motion.trajectory.polynomials import quintic, values
from humanoid_motion.trajectory.trajectory import Trajectory, hold

TOLERANCE = 0.1  # [rad]
REST = np.zeros((3, 2))
NAMES = ["joint_0", "joint_1"]


@pytest.fixture
def through(joints: Any, limits: Any) -> Any:
    def make(start: FloatArray, points: list[Point], names: list[str] | None = None) -> Trajectory:
        count = start.shape[1]
        checked = checked_points(joints(count), names or NAMES[:count], points, partial=True)
        return trajectory_through(start, checked, limits(count), joints(count), TOLERANCE)

    return make


def test_single_point_without_velocity_is_reached_with_least_jerk(through: Any) -> None:
    trajectory = through(REST, [Point(2.0, [0.8, -0.4])])
    for time in np.linspace(0.0, 2.0, 9):
        u = time / 2.0
        part = 10 * u**3 - 15 * u**4 + 6 * u**5
        assert trajectory.at(time)[0] == pytest.approx([0.8 * part, -0.4 * part])
    assert trajectory.at(3.0) == pytest.approx(np.array([[0.8, -0.4], [0.0, 0.0], [0.0, 0.0]]))


def test_a_way_through_points_turns_only_at_points(through: Any, sample: Any) -> None:
    points = [Point(1.0, [0.2, 0.5]), Point(2.0, [0.3, 0.1]), Point(4.0, [1.0, 0.1])]
    trajectory = through(REST, points)
    for point in points:
        assert trajectory.at(point.time)[0] == pytest.approx(point.positions)
    velocity = sample(trajectory, np.linspace(0, 4, 200))[:, 1, 0]
    assert velocity.min() > -1e-9
    assert trajectory.at(2.0)[1, 0] > 0.05  # the joint passes this point
    assert trajectory.at(1.0)[1, 1] == pytest.approx(0.0)  # the joint turns at this point


def test_points_with_velocities_are_joined_by_cubics(through: Any) -> None:
    trajectory = through(REST, [Point(1.0, [0.3, 0.0], [0.5, 0.0]), Point(2.0, [0.6, 0], [0, 0])])
    assert trajectory.at(1.0)[1] == pytest.approx([0.5, 0.0])
    u = 0.5  # of the second segment: the closed form of Hermite
    expected = 0.3 * 0.5 + 0.5 * (u**3 - 2 * u**2 + u) + 0.6 * 0.5
    assert trajectory.at(1.5)[0, 0] == pytest.approx(expected)
    assert not trajectory.coefficients[1, 4:].any()


def test_points_with_accelerations_are_joined_by_quintics(through: Any) -> None:
    points = [Point(1.0, [0.3, 0.0], [0.5, 0.0], [1.0, 0.0]), Point(2.0, [0.6, 0], [0, 0], [0, 0])]
    assert through(REST, points).at(1.0) == pytest.approx(np.array([[0.3, 0], [0.5, 0], [1, 0]]))


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_a_motion_goes_on_without_a_step_of_the_acceleration(through: Any, kind: int) -> None:
    start = np.array([[0.1, 0.2], [0.3, -0.2], [0.5, 0.1]])
    own = [[0.4, 0.3], [0.0, 0.0], [0.0, 0.0]][: kind + 1]
    assert through(start, [Point(1.5, *own)]).at(0.0) == pytest.approx(start)


def test_joints_that_are_not_named_hold_their_place(through: Any) -> None:
    start = np.array([[0.1, 0.7], [0.0, 0.0], [0.0, 0.0]])
    trajectory = through(start, [Point(1.0, [0.5])], ["joint_0"])
    for time in (0.0, 0.4, 2.0):
        assert trajectory.at(time)[:, 1].tolist() == [0.7, 0.0, 0.0]


def test_a_moving_joint_that_is_not_named_is_refused_by_name(through: Any) -> None:
    start = np.array([[0.1, 0.7], [0.0, 0.1], [0.0, 0.0]])
    with pytest.raises(MotionRefusedError, match="joint_1: moves, and is not named"):
        through(start, [Point(1.0, [0.5])], ["joint_0"])


@pytest.mark.parametrize(
    ("points", "text"),
    [
        ([Point(2.0, [0.1, 0.0]), Point(4.0, [0.0, 2.1])], "point 1 .*joint_1: position 2.1 rad"),
        ([Point(0.9, [1.5, 0.0])], "joint_0: velocity 3.125 rad/s .* -3 to 3 rad/s"),
        ([Point(0.7, [-1.0, 0.0])], "point 0 .at 0.7 s., joint_0: acceleration"),
        # Within the range at both ends, beyond it between them.
        ([Point(4.0, [1.9, 0], [0.5, 0]), Point(6.0, [1.9, 0], [0, 0])], "point 1 .*position 2.04"),
    ],
)
def test_trajectory_beyond_a_limit_is_refused_with_point_and_joint(
    through: Any, points: list[Point], text: str
) -> None:
    with pytest.raises(MotionRefusedError, match=text):
        through(REST, points)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_joint_outside_of_its_range_may_come_back_but_not_go_on(
    through: Any, side: float
) -> None:
    start = np.array([[2.3 * side, 0.0], [0.0, 0.0], [0.0, 0.0]])
    assert through(start, [Point(2.0, [1.9 * side, 0])]).end[0, 0] == pytest.approx(1.9 * side)
    with pytest.raises(MotionRefusedError, match=r"joint_0: position -?2\.4 rad"):
        through(start, [Point(2.0, [2.4 * side, 0.0])])


def test_a_first_point_at_time_0_is_joined_without_a_step(through: Any, sample: Any) -> None:
    """A planner begins at the measured pose of the arm; the commanded pose is a little above."""
    start = np.array([[0.05, 0.0], [0.0, 0.0], [0.0, 0.0]])
    planned = through(REST, [Point(3.0, [0.6, 0.0])])
    states = sample(planned, np.linspace(0.0, 3.0, 31))
    points = [Point(0.1 * i, *state.tolist()) for i, state in enumerate(states)]
    trajectory = through(start, points)
    assert trajectory.at(0.0) == pytest.approx(start)
    found = sample(trajectory, np.linspace(0.0, 3.0, 301))
    assert np.abs(found[:, 2]).max() <= 5.0 * (1 + 1e-6)
    assert np.abs(np.diff(found[:, 2], axis=0)).max() < 1.0
    for time in (1.7, 2.5, 3.0):  # the difference has decreased to zero
        assert trajectory.at(time) == pytest.approx(planned.at(time), abs=1e-9)


def test_a_first_point_far_from_the_present_pose_is_refused(through: Any) -> None:
    with pytest.raises(MotionRefusedError, match=r"point 0, joint_1: 0\.2 rad at time 0, expected"):
        through(REST, [Point(0.0, [0.0, 0.2]), Point(1.0, [0.0, 0.2])])


def test_a_hold_has_ended_when_it_begins() -> None:
    held = hold(np.array([0.3]))
    assert held.duration == 0.0
    assert held.at(0.0).tolist() == held.at(1.0).tolist() == [[0.3], [0.0], [0.0]]


def test_a_trajectory_cannot_be_changed(through: Any) -> None:
    trajectory = through(REST, [Point(1.0, [0.1, 0.1])])
    with pytest.raises(ValueError, match="read-only"):
        trajectory.coefficients[0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        trajectory.at(2.0)[0] = 1.0


def test_the_quintic_between_two_points_is_the_closed_form(through: Any) -> None:
    end = np.array([[[0.5, 0.2], [0.0, 0.0], [0.0, 0.0]]])
    expected = quintic(REST[None], end, np.array([1.3]))[0]
    found = through(REST, [Point(1.3, [0.5, 0.2])])
    assert found.at(0.9) == pytest.approx(values(expected, 0.9))
