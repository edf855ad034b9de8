"""Evolution strategy: follows the gradient of the expected cost, estimated from random candidates.

Salimans et al., "Evolution Strategies as a Scalable Alternative to Reinforcement Learning" (2017):
mirrored candidates, costs replaced by their ranks, steps by Adam.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_policy_training.arm_network import Parameters

# Adam's usual constants.
MEAN_DECAY: Final = 0.9
SQUARE_DECAY: Final = 0.999
EPSILON: Final = 1e-8


class Evolution:
    """Improves `parameters` generation by generation.

    Args:
        parameters: the first ones, (size,).
        candidates: in each generation, an even number.
        spread: standard deviation of the candidates around the parameters.
    """

    def __init__(self, parameters: Parameters, candidates: int, spread: float) -> None:
        self.parameters = parameters.copy()
        self._pairs, self._spread = candidates // 2, spread
        self._mean, self._square = np.zeros_like(parameters), np.zeros_like(parameters)
        self._generation = 0

    def candidates(self, random: np.random.Generator) -> Parameters:
        """Return the candidates of the next generation, (candidates, size)."""
        noise = random.standard_normal((self._pairs, len(self.parameters)))
        self._noise = np.concatenate([noise, -noise])
        found: Parameters = self.parameters + self._spread * self._noise
        return found

    def learn(self, costs: FloatArray, rate: float) -> None:
        """Take a step of `rate` given the costs (candidates,) of the latest candidates."""
        ranks = np.empty(len(costs))
        ranks[np.argsort(costs)] = np.linspace(-0.5, 0.5, len(costs))
        gradient = ranks @ self._noise / (len(costs) * self._spread)
        self._generation += 1
        self._mean += (1.0 - MEAN_DECAY) * (gradient - self._mean)
        self._square += (1.0 - SQUARE_DECAY) * (gradient**2 - self._square)
        mean = self._mean / (1.0 - MEAN_DECAY**self._generation)
        square = self._square / (1.0 - SQUARE_DECAY**self._generation)
        self.parameters -= rate * mean / (np.sqrt(square) + EPSILON)
