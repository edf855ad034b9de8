"""Random motions rest at their poses and stay within limits."""

from __future__ import annotations

import numpy as np

from humanoid_policy_training.reaching_motions import FASTEST, MARGIN, random_motions
from humanoid_policy_training.reaching_task import ReachingTask

DURATION = 6.0  # [s]
STEP = 0.001  # [s]


def test_a_motion_rests_at_each_of_its_poses(task: ReachingTask) -> None:
    motions = random_motions(np.random.default_rng(1), task.limits, 8, DURATION)
    for i in range(motions.begins.shape[1]):
        for robot in range(8):
            for time, pose in (
                (motions.begins[robot, i], motions.poses[robot, i]),
                (motions.begins[robot, i] + motions.times[robot, i], motions.poses[robot, i + 1]),
            ):
                position, velocity = motions.at(time)
                np.testing.assert_allclose(position[robot], pose, atol=1e-12)
                np.testing.assert_allclose(velocity[robot], 0.0, atol=1e-9)


def test_a_motion_stays_in_range_and_below_its_speed(task: ReachingTask) -> None:
    motions = random_motions(np.random.default_rng(2), task.limits, 64, DURATION)
    before, _ = motions.at(0.0)
    for time in np.arange(STEP, DURATION, STEP):
        position, velocity = motions.at(float(time))
        assert (position >= task.limits.target_lower + MARGIN - 1e-9).all()
        assert (position <= task.limits.target_upper - MARGIN + 1e-9).all()
        assert np.abs(velocity).max() <= FASTEST * (1 + 1e-9)
        assert np.abs((position - before) / STEP).max() <= FASTEST * (1 + 1e-9)
        before = position
