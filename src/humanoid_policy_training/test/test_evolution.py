"""The evolution strategy finds the least cost."""

from __future__ import annotations

import numpy as np

from humanoid_policy_training.evolution import Evolution


def test_evolution_reaches_the_minimum_of_a_bowl() -> None:
    random = np.random.default_rng(1)
    goal = random.normal(0.0, 1.0, 50)
    evolution = Evolution(np.zeros(50), candidates=32, spread=0.1)
    for _ in range(400):
        candidates = evolution.candidates(random)
        evolution.learn(((candidates - goal) ** 2).sum(axis=1), rate=0.05)
    assert np.abs(evolution.parameters - goal).max() < 0.2


def test_candidates_are_mirrored_pairs() -> None:
    evolution = Evolution(np.ones(3), candidates=8, spread=0.5)
    candidates = evolution.candidates(np.random.default_rng(2))
    np.testing.assert_allclose(candidates[:4] + candidates[4:], 2.0)
