"""Both arms have one network: their actions are mirror images."""

from __future__ import annotations

import numpy as np

from humanoid_policy_training.reaching_task import OBSERVATIONS, ReachingTask

MIRROR = np.array([1, -1, -1, 1, -1, 1, -1])  # shoulder pitch, roll, yaw, elbow, roll, pitch, yaw


def mirrored(vector: np.ndarray) -> np.ndarray:
    left, right = np.split(vector, 2, axis=-1)
    return np.concatenate([right * MIRROR, left * MIRROR], axis=-1)


def test_a_mirrored_observation_has_a_mirrored_action(task: ReachingTask) -> None:
    random = np.random.default_rng(1)
    layers = task.network.layers(random.normal(0.0, 0.3, (3, task.network.size)).astype(np.float32))
    seen = random.normal(0.0, 1.0, (3, 5, task.observation.size)).astype(np.float32)
    terms = np.split(seen, len(OBSERVATIONS), axis=-1)
    other = np.concatenate([mirrored(term) for term in terms], axis=-1).astype(np.float32)
    np.testing.assert_allclose(
        task.network.actions(layers, other),
        mirrored(task.network.actions(layers, seen)),
        atol=1e-6,
    )


def test_candidates_are_independent(task: ReachingTask) -> None:
    random = np.random.default_rng(2)
    both = random.normal(0.0, 0.3, (2, task.network.size)).astype(np.float32)
    seen = random.normal(0.0, 1.0, (2, 4, task.observation.size)).astype(np.float32)
    together = task.network.actions(task.network.layers(both), seen)
    alone = task.network.actions(task.network.layers(both[1:]), seen[1:])
    np.testing.assert_allclose(together[1:], alone, atol=1e-6)


def test_the_first_network_does_nothing(task: ReachingTask) -> None:
    first = task.network.initial(np.random.default_rng(3))[None].astype(np.float32)
    seen = np.ones((1, 2, task.observation.size), dtype=np.float32)
    assert not task.network.actions(task.network.layers(first), seen).any()
