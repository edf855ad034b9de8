"""Random goals, preemptions and stops: never a step, never beyond a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.jerk_limited.jerk_limited_motion import jerk_limited_motion
from humanoid_motion.trajectory.polynomials import values
from humanoid_motion.trajectory.time_scaling import TimeScaling
from humanoid_motion.trajectory.trajectory import Trajectory

WIDE = 50  # joints that move at once: one trial of each
VELOCITY, ACCELERATION, JERK = 3.0, 5.0, 60.0
PERIOD = 0.01  # [s]


def _refuse_steps(start: FloatArray, states: FloatArray) -> None:
    """Fail if commanded states, (ticks, 3, n), step or are beyond a limit, judged by positions."""
    positions = np.concatenate([start[:1], states[:, 0]])
    velocity = np.diff(positions, axis=0) / PERIOD
    assert np.abs(velocity).max() <= VELOCITY * (1 + 1e-6)
    before = np.concatenate([start[1:2], velocity])
    change = np.diff(before, axis=0) / PERIOD
    assert np.abs(change[1:]).max(initial=0.0) <= ACCELERATION * (1 + 1e-6)


def _random_state(rng: np.random.Generator) -> FloatArray:
    """Return a state within 1 rad, with a speed from which the joints can stop in their range."""
    return np.stack(
        [
            rng.uniform(-1.0, 1.0, WIDE),
            rng.uniform(-1.5, 1.5, WIDE),
            rng.uniform(-3.0, 3.0, WIDE),
        ]
    )


def _goes_on(way: Trajectory, begin: float, count: int) -> FloatArray:
    return np.array([way.at(begin + PERIOD * (i + 1)) for i in range(count)])


def _run(seed: int, count: int, joints: Any, limits: Any) -> int:
    """Follow `count` random ways, each until a random time; return the number of stops."""
    rng, within, names = np.random.default_rng(seed), limits(WIDE), joints(WIDE)
    state, stops = np.zeros((3, WIDE)), 0
    for _ in range(count):
        way = jerk_limited_motion(state, rng.uniform(-1.9, 1.9, WIDE), within, names)
        assert way.at(0.0) == pytest.approx(state, abs=1e-9)
        ticks = int(rng.uniform(1.0, way.duration / PERIOD + 5.0))
        states = _goes_on(way, 0.0, ticks)
        if rng.random() < 0.5:  # cancelled
            braking = TimeScaling(way, ticks * PERIOD, within.acceleration)
            stop = [braking.brake(PERIOD) for _ in range(300)]
            assert braking.stopped
            states = np.concatenate([states, stop])
            stops += 1
        _refuse_steps(state, states)
        state = states[-1].copy()
        if np.abs(state[0]).max() > 1.9 or np.abs(state[1]).max() > 1.0:
            state = np.zeros((3, WIDE))  # the next goal could leave the range before it turns
    return stops


def test_200_times_50_random_goals_cancels_and_preemptions_stay_within_the_limits(
    joints: Any, limits: Any
) -> None:
    assert _run(7, 200, joints, limits) > 50


@pytest.mark.soak
def test_10000_times_50_random_goals_stay_within_the_limits(joints: Any, limits: Any) -> None:
    assert _run(8, 10_000, joints, limits) > 1000


def test_a_jerk_limited_motion_is_continuous_within_its_limits_and_ends_at_the_goal(
    joints: Any, limits: Any
) -> None:
    rng, within = np.random.default_rng(11), limits(WIDE)
    for _ in range(10):
        start, goal = _random_state(rng), rng.uniform(-1.0, 1.0, WIDE)
        start[0] *= 0.2
        way = jerk_limited_motion(start, goal, within, joints(WIDE))
        assert way.at(0.0) == pytest.approx(start, abs=1e-9)
        assert way.end[0] == pytest.approx(goal, abs=1e-9)
        duration = np.diff(way.knots)
        for i, lasts in enumerate(duration[:-1]):
            before, after = values(way.coefficients[i], lasts), way.at(way.knots[i + 1])
            assert np.abs(after - before).max() < 1e-6
        assert np.abs(6 * way.coefficients[:, 3]).max() <= JERK * (1 + 1e-3)


def test_a_jerk_limited_motion_takes_the_time_it_is_given(joints: Any, limits: Any) -> None:
    goal = np.array([0.5, -0.2])
    fastest = jerk_limited_motion(np.zeros((3, 2)), goal, limits(2), joints(2))
    way = jerk_limited_motion(np.zeros((3, 2)), goal, limits(2), joints(2), 4.0)
    assert fastest.duration < 1.0
    assert way.duration == pytest.approx(4.0)
    for time in np.linspace(0.0, 4.0, 20):  # a straight line
        assert way.at(time)[0, 1] == pytest.approx(-0.4 * way.at(time)[0, 0])


def test_a_way_that_is_planned_again_on_its_way_takes_the_same_time(
    joints: Any, limits: Any
) -> None:
    """A state on the fastest way reaches the limits exactly."""
    rng, within = np.random.default_rng(2), limits(1)
    for _ in range(300):
        start, goal = np.zeros((3, 1)), rng.uniform(0.1, 2.0, 1)
        speed = rng.uniform(0.1, 3.0, 1)
        way = jerk_limited_motion(start, goal, within, joints(1), 0.0, speed)
        time = rng.uniform(0.0, way.duration)
        again = jerk_limited_motion(way.at(time), goal, within, joints(1), 0.0, speed)
        assert again.duration == pytest.approx(way.duration - time, abs=1e-3)


@pytest.mark.parametrize(
    ("duration", "speed"), [(0.0, 1e-3), (0.0, 1e-5), (0.0, 1e-300), (4000.0, 1.0), (1e9, 1.0)]
)
def test_a_way_that_takes_hours_is_refused(
    joints: Any, limits: Any, duration: float, speed: float
) -> None:
    start = np.array([[1.9, 1.9], [0.0, 0.0], [0.0, 0.0]])
    slow = np.full(2, speed)
    with pytest.raises(MotionRefusedError):
        jerk_limited_motion(start, -start[0], limits(2), joints(2), duration, slow)
    if duration == 0.0:  # the same while it moves
        start[1:] = [[-1e-3, 1e-3], [1e-3, 0.0]]
        with pytest.raises(MotionRefusedError):
            jerk_limited_motion(start, -start[0], limits(2), joints(2), duration, slow)


def test_a_jerk_limited_motion_to_the_present_pose_is_no_motion(joints: Any, limits: Any) -> None:
    start = np.zeros((3, 2))
    start[0] = 0.3
    way = jerk_limited_motion(start, start[0], limits(2), joints(2))
    assert way.at(0.0) == pytest.approx(start)
    assert way.end == pytest.approx(start)


def test_a_stop_stays_on_the_path_and_takes_the_least_time(joints: Any, limits: Any) -> None:
    """At full speed on a straight line: v / (0.9 a), the share that is used."""
    goal = np.array([1.8, 0.9])
    start = np.zeros((3, 2))
    start[0] = [-1.8, -0.9]
    way = jerk_limited_motion(start, goal, limits(2), joints(2))
    middle = way.duration / 2
    assert way.at(middle)[1, 0] == pytest.approx(VELOCITY)
    braking, states = TimeScaling(way, middle, limits(2).acceleration), []
    while not braking.stopped:
        states.append(braking.brake(PERIOD))
    assert len(states) * PERIOD == pytest.approx(VELOCITY / (0.9 * ACCELERATION), abs=2 * PERIOD)
    for state in states:
        assert state[0, 1] == pytest.approx(0.5 * state[0, 0])
    assert braking.brake(PERIOD)[1:].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_a_stop_in_the_last_part_of_a_way_that_brakes_anyway_is_its_own_end(
    joints: Any, limits: Any
) -> None:
    start, goal = np.zeros((3, 1)), np.array([1.0])
    way = jerk_limited_motion(start, goal, limits(1), joints(1))
    begin = way.duration - 0.15
    braking = TimeScaling(way, begin, limits(1).acceleration)
    states = [start]
    while not braking.stopped:
        states.append(braking.brake(PERIOD))
        assert np.abs(states[-1][2]).max() <= ACCELERATION * (1 + 1e-6)
    assert states[-1][0] <= goal + 1e-9
