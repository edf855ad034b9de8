"""Keep targets within the range of the joints: a target beyond it ends a policy on the robot."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_policy_training.arm_network import Float32

# [rad] that a motion goes on while an action acts, 20 to 40 ms after its observation, at 2 rad/s.
MARGIN: Final = 0.1


@dataclass(frozen=True, slots=True)
class ActionBounds:
    """The residual that is left between the reference and the ends of the range.

    Args:
        places: of the reference in the observation, whose scale is 1, (n_joints,).
        lower, upper: ends of the range [rad], MARGIN inside of it, (n_joints,).
        scale: [rad] of an action of 1, (n_joints,).
    """

    places: NDArray[np.intp]
    lower: Float32
    upper: Float32
    scale: Float32

    def bounded(self, action: Float32, observation: Float32) -> Float32:
        """Return `action` within the bounds, (..., n_joints): 0 always is."""
        reference = observation[..., self.places]
        highest = np.maximum(self.upper - reference, 0.0) / self.scale
        lowest = np.minimum(self.lower - reference, 0.0) / self.scale
        found: Float32 = np.minimum(np.maximum(action, lowest), highest)
        return found
