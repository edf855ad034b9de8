"""A recorded motion becomes a few points near it and within the limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_motion.motion_file.smoothing import BLUR, STIRS, WIDTH, smoothed
from humanoid_motion.trajectory.limits import MotionLimits, refuse_beyond
from humanoid_motion.trajectory.point_trajectory import trajectory_through
from humanoid_motion.trajectory.points import Points
from humanoid_motion.trajectory.trajectory import Trajectory

JOINTS = JointSet(("shoulder", "elbow"))
LIMITS = MotionLimits(*(np.full(2, it) for it in (-2.0, 2.0, 2.0, 3.5, 40.0)))
RATE = 50.0  # [Hz]


def way_of(times: FloatArray, positions: FloatArray) -> Trajectory:
    start = np.zeros((3, 2))
    start[0] = positions[0]
    points = Points(np.arange(2), times, positions, None, None)
    return trajectory_through(start, points, LIMITS, JOINTS, 0.1)


def recorded(seconds: float, speed: float = 1.0) -> tuple[FloatArray, FloatArray]:
    """A second at rest, a motion that begins and ends slowly, a second at rest."""
    times = np.arange(0.0, seconds + 2.0, 1.0 / RATE)
    inside = np.clip(times - 1.0, 0.0, seconds)
    envelope = np.sin(np.pi * inside / seconds) ** 2
    one = envelope * np.sin(speed * inside)
    return times, np.stack([one, -0.5 * envelope], axis=1)


def test_the_motion_is_kept_and_rest_is_cut_off() -> None:
    times, positions = recorded(6.0)
    found_times, found = smoothed(times, positions, LIMITS, JOINTS)
    assert found_times[0] == 0.0
    assert 5.0 < found_times[-1] < 7.0
    assert len(found_times) < 80
    around = 2 * WIDTH * BLUR  # [s] of rest that is kept at the beginning
    shift = np.argmax(np.abs(positions - positions[0]).max(axis=1) > STIRS) / RATE - around
    near = np.stack([np.interp(found_times + shift, times, column) for column in positions.T], 1)
    assert np.abs(found - near).max() < 0.03


def test_trembling_is_smoothed_away() -> None:
    times, positions = recorded(6.0)
    trembling = 0.01 * np.sin(2 * np.pi * 8.0 * times)[:, None]
    _, calm = smoothed(times, positions, LIMITS, JOINTS)
    _, found = smoothed(times, positions + trembling, LIMITS, JOINTS)
    count = min(len(calm), len(found))
    assert abs(len(calm) - len(found)) < 8
    bends = [np.abs(np.diff(it, 2, axis=0)).max() for it in (calm[:count], found[:count])]
    assert bends[1] < bends[0] + 0.02


@pytest.mark.parametrize("speed", [1.0, 5.0, 20.0])
def test_a_fast_motion_is_slowed_down_to_the_limits(speed: float) -> None:
    times, found = smoothed(*recorded(4.0, speed), LIMITS, JOINTS)
    refuse_beyond(way_of(times, found), LIMITS, JOINTS)


def test_a_long_sweep_keeps_the_limit_of_velocity() -> None:
    slow = replace(LIMITS, velocity=np.full(2, 0.3))
    times, found = smoothed(*recorded(6.0), slow, JOINTS)
    refuse_beyond(way_of(times, found), slow, JOINTS)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_any_motion_ends_within_the_limits(seed: int) -> None:
    random = np.random.default_rng(seed)
    count = int(random.integers(30, 400))
    steps = random.normal(0.0, random.uniform(0.001, 0.3), (count, 2))
    positions = np.clip(np.cumsum(steps, axis=0), -2.5, 2.5)
    positions[0] = 0.0
    positions[count // 2] = 1.0  # a joint moves
    times, found = smoothed(np.arange(count) / RATE, positions, LIMITS, JOINTS)
    refuse_beyond(way_of(times, found), LIMITS, JOINTS)


def test_a_joint_guided_to_the_end_of_its_range_stays_within_it() -> None:
    """A range that ends between two angles of a motion file."""
    narrow = replace(LIMITS, lower=np.full(2, -0.123456), upper=np.full(2, 0.56789))
    _, found = smoothed(*recorded(6.0), narrow, JOINTS)
    assert found.min() == -0.1234
    assert found.max() == 0.5678


def test_a_long_motion_has_no_more_points_than_can_be_played() -> None:
    times, found = smoothed(*recorded(300.0), LIMITS, JOINTS)
    assert len(found) <= 501
    refuse_beyond(way_of(times, found), LIMITS, JOINTS)


def test_samples_that_are_not_later_are_dropped() -> None:
    times, positions = recorded(4.0)
    expected = smoothed(times, positions, LIMITS, JOINTS)
    order = np.concatenate([np.arange(100), [50, 99], np.arange(100, len(times))])
    found = smoothed(times[order], positions[order], LIMITS, JOINTS)
    np.testing.assert_array_equal(found[1], expected[1])


@pytest.mark.parametrize("jump", [1.7e9, 1.5, -1.5, -1.7e9])
def test_a_recording_with_a_gap_or_a_clock_that_was_set_is_refused(jump: float) -> None:
    """A computer without a battery gets its time, 55 years later, from the network."""
    times, positions = recorded(4.0)
    times[100:] += jump
    with pytest.raises(ConfigError, match=r"a sample .* samples are missing, or the clock was set"):
        smoothed(times, positions, LIMITS, JOINTS)


@pytest.mark.parametrize(
    ("times", "positions", "text"),
    [
        (np.arange(100) / RATE, np.zeros((100, 2)), "nothing moves"),
        (np.zeros(0), np.zeros((0, 2)), "too short"),
        (np.arange(5) / RATE, np.zeros((5, 2)), "too short"),
        (np.arange(100) / RATE, np.full((100, 2), np.nan), "not finite"),
    ],
)
def test_a_recording_without_a_motion_is_refused(times, positions, text) -> None:
    with pytest.raises(ConfigError, match=text):
        smoothed(times, positions, LIMITS, JOINTS)
