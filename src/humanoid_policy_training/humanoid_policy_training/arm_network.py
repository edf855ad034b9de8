"""One small network for both arms: observation and action of the right arm are mirrored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Parameters = NDArray[np.float64]
Float32 = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ArmNetwork:
    """A perceptron with a hidden layer, and its place in the observation of the whole robot.

    Args:
        places: of each arm's part of the observation, (2, n_inputs).
        signs: of them in the mirror, (2, n_inputs).
        action_signs: of the actions in the mirror, (2, n_outputs).
        hidden: number of hidden units.
    """

    places: NDArray[np.intp]
    signs: Float32
    action_signs: Float32
    hidden: int

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The shapes of both layers; the last row of each is the bias."""
        inputs, outputs = self.signs.shape[1], self.action_signs.shape[1]
        return (inputs + 1, self.hidden), (self.hidden + 1, outputs)

    @property
    def size(self) -> int:
        """The number of parameters."""
        return sum(rows * columns for rows, columns in self.shapes)

    def initial(self, random: np.random.Generator) -> Parameters:
        """Return random first weights; the output is 0."""
        (rows, columns), last = self.shapes
        first = random.normal(0.0, 1.0 / np.sqrt(rows), (rows, columns))
        first[-1] = 0.0
        return np.concatenate([first.ravel(), np.zeros(last).ravel()])

    def layers(self, parameters: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return both layers of the last axis of `parameters` (..., size)."""
        first, last = self.shapes
        split = first[0] * first[1]
        lead = parameters.shape[:-1]
        return (
            parameters[..., :split].reshape(*lead, *first),
            parameters[..., split:].reshape(*lead, *last),
        )

    def actions(self, layers: tuple[Float32, Float32], observation: Float32) -> Float32:
        """Return the actions, (candidates, robots, n_actions), in -1..1.

        `layers` of the candidates, `observation` (candidates, robots, n_observations).
        """
        first, last = layers
        candidates, robots, _ = observation.shape
        seen = (observation[..., self.places] * self.signs).reshape(candidates, robots * 2, -1)
        inner = np.tanh(seen @ first[:, :-1] + first[:, None, -1])
        outer = np.tanh(inner @ last[:, :-1] + last[:, None, -1])
        both = outer.reshape(candidates, robots, 2, -1) * self.action_signs
        actions: Float32 = both.reshape(candidates, robots, -1)
        return actions
