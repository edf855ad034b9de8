"""No action leads a target out of the range of its joint during the motion."""

from __future__ import annotations

import numpy as np

from humanoid_policy_training.reaching_motions import FASTEST, random_motions
from humanoid_policy_training.reaching_task import OBSERVATIONS, PERIOD, ReachingTask


def test_targets_stay_in_range_until_the_next_action(task: ReachingTask) -> None:
    random = np.random.default_rng(1)
    motions = random_motions(random, task.limits, 64, 6.0)
    scale = np.array(task.metadata.scales)
    joints = len(scale)
    assert FASTEST * 2 * PERIOD < 0.1
    for time in np.arange(0.0, 6.0, PERIOD):
        reference, _ = motions.at(float(time))
        observation = np.zeros((64, joints * len(OBSERVATIONS)), dtype=np.float32)
        observation[:, task.observation.slices["reference_joint_pos"]] = reference
        wild = random.choice([-1.0, 1.0], (64, joints)).astype(np.float32)
        residual = task.bounds.bounded(wild, observation) * scale
        for later in (PERIOD, 1.5 * PERIOD, 2 * PERIOD):
            target = motions.at(float(time) + later)[0] + residual
            assert (target >= task.limits.target_lower - 1e-6).all()
            assert (target <= task.limits.target_upper + 1e-6).all()


def test_far_from_the_ends_actions_are_as_they_are(task: ReachingTask) -> None:
    middle = (task.limits.target_lower + task.limits.target_upper) / 2
    observation = np.zeros((1, task.observation.size), dtype=np.float32)
    observation[:, task.observation.slices["reference_joint_pos"]] = middle
    action = np.full((1, len(middle)), 0.1, dtype=np.float32)
    np.testing.assert_array_equal(task.bounds.bounded(action, observation), action)
