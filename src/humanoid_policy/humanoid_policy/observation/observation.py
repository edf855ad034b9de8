"""The observation of a policy: the terms of its metadata, scaled, one after another.

The controller computes it for one robot, a training for a batch of them: with the same code.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy.observation.inputs import ObservationInputs
from humanoid_policy.observation.terms import TERMS, Size, Source

Float32Array = NDArray[np.float32]


class Observation:
    """Computes observations.

    Args:
        metadata: of the policy.
    """

    def __init__(self, metadata: PolicyMetadata) -> None:
        sizes: Final = {
            Size.JOINTS: len(metadata.joint_names),
            Size.ACTION: len(metadata.action_joint_names),
            Size.ONE: 1,
            Size.THREE: 3,
        }
        self._terms = [TERMS[name] for name in metadata.observation_names]
        self._default = np.array(metadata.default_joint_pos)
        self.slices: dict[str, slice] = {}  # of each term in the observation
        self.size = 0
        for name, term in zip(metadata.observation_names, self._terms, strict=True):
            self.slices[name] = slice(self.size, self.size + sizes[term.size])
            self.size = self.slices[name].stop
        self._scale = np.ones(self.size)
        for place, scale in zip(self.slices.values(), metadata.observation_scales, strict=False):
            self._scale[place] = scale

    @property
    def sources(self) -> frozenset[Source]:
        """Sources of the inputs that the terms need."""
        return frozenset(term.source for term in self._terms)

    def compute(self, inputs: ObservationInputs) -> Float32Array:
        """Return the observation of `inputs`, (..., size).

        Raises ValueError if the inputs lack those of a term.
        """
        values = [term.value(inputs, self._default) for term in self._terms]
        return np.asarray(np.concatenate(values, axis=-1) * self._scale, dtype=np.float32)
