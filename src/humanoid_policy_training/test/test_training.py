"""A trained policy is better than the gains alone, and the same seed gives the same policy."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_policy_training import training
from humanoid_policy_training.reaching_task import ReachingTask
from humanoid_policy_training.training import Score, train


def trained(task: ReachingTask, generations: int, seed: int) -> tuple[list[Score], np.ndarray]:
    scores: list[Score] = []
    return scores, train(task, generations, seed, lambda score, _: scores.append(score))


def test_the_same_seed_gives_the_same_policy(
    task: ReachingTask, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("CANDIDATES", 4), ("STEPS", 10), ("TESTED", 2), ("TEST_STEPS", 30)):
        monkeypatch.setattr(training, name, value)
    first, again, other = (trained(task, 3, seed)[1] for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.01


@pytest.mark.soak
def test_forty_generations_halve_the_error_of_random_robots(task: ReachingTask) -> None:
    scores, _ = trained(task, 40, seed=1)
    assert scores[-1].random < 0.5 * scores[0].random
    assert scores[-1].nominal < scores[0].nominal
