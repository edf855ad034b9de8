"""The commands of a policy's action, for one robot or for a batch of robots."""

from typing import NamedTuple

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_policy.metadata import ActionKind, PolicyMetadata
from humanoid_policy.observation.inputs import Reference


class Target(NamedTuple):
    """Commanded values of the joints of `joint_names`, (..., n)."""

    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    effort: FloatArray  # [Nm]


class ActionLaw:
    """Turns actions into targets.

    `held` is computed once in each policy step and kept until the next one; `target` in each tick,
    because a reference continues between two policy steps.

    Args:
        metadata: of the policy.
    """

    def __init__(self, metadata: PolicyMetadata) -> None:
        self.kind = metadata.action_kind
        self._rows = np.array(metadata.action_rows, dtype=np.intp)
        self._scale = np.array(metadata.scales)
        self._default = np.array(metadata.default_joint_pos)

    def held(self, action: FloatArray, before: FloatArray) -> FloatArray:
        """Return what is held until the next policy step, (..., m): positions, residuals, efforts.

        Args:
            action: the output of the policy, (..., m).
            before: the target position of the policy step before, at first the measured one
                [rad], (..., n); used for deltas.
        """
        values = np.asarray(self._scale * action, dtype=np.float64)
        if self.kind is ActionKind.TARGETS:
            values += self._default[self._rows]
        elif self.kind is ActionKind.DELTAS:
            values += before[..., self._rows]
        return values

    def target(self, held: FloatArray, reference: Reference | None) -> Target:
        """Return the targets of a tick.

        Joints without action follow the reference; without one they hold their default position.
        Joints whose action is an effort always do. Raises ValueError for residuals without a
        reference.

        Args:
            held: see `held`, (..., m).
            reference: at the time of the tick, (..., n); None if there is no motion.
        """
        shape = (*held.shape[:-1], len(self._default))
        position, velocity, effort = (np.zeros(shape) for _ in range(3))
        position[...] = self._default if reference is None else reference.position
        if reference is not None:
            velocity[...] = reference.velocity
        rows = self._rows
        if self.kind is ActionKind.RESIDUALS:
            if reference is None:
                raise ValueError("residuals without a reference")
            position[..., rows] += held
            return Target(position, velocity, effort)
        velocity[..., rows] = 0.0
        if self.kind is ActionKind.TORQUES:
            position[..., rows] = self._default[rows]
            effort[..., rows] = held
        else:
            position[..., rows] = held
        return Target(position, velocity, effort)
