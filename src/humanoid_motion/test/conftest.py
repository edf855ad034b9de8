"""Joints, limits and random motions of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_motion.trajectory.limits import MotionLimits
from humanoid_motion.trajectory.trajectory import Trajectory

LOWER, UPPER, VELOCITY, ACCELERATION, JERK = -2.0, 2.0, 3.0, 5.0, 60.0


def limits_of(count: int) -> MotionLimits:
    """±2 rad, 3 rad/s, 5 rad/s², 60 rad/s³."""
    rows = (np.full(count, value) for value in (LOWER, UPPER, VELOCITY, ACCELERATION, JERK))
    return MotionLimits(*rows)


def joints_of(count: int) -> JointSet:
    return JointSet(tuple(f"joint_{i}" for i in range(count)))


def sampled(trajectory: Trajectory, times: FloatArray) -> FloatArray:
    """The states at `times`, (len(times), 3, n)."""
    return np.array([trajectory.at(time) for time in times])


@pytest.fixture(scope="session")
def limits() -> Callable[[int], MotionLimits]:
    return limits_of


@pytest.fixture(scope="session")
def joints() -> Callable[[int], JointSet]:
    return joints_of


@pytest.fixture(scope="session")
def sample() -> Callable[[Trajectory, FloatArray], FloatArray]:
    return sampled
