"""Passive springs in the joints, as those that stretch a finger."""

from collections.abc import Mapping

import mujoco
from pydantic import Field

from humanoid_control_common.configuration.config import StrictModel


class JointSpring(StrictModel):
    """A spring between a joint and its parent, and its damping."""

    stiffness: float = Field(gt=0.0)  # [Nm/rad]
    rest: float  # [rad] without force
    damping: float = Field(default=0.0, ge=0.0)  # [Nm s/rad]


def add_springs(spec: mujoco.MjSpec, springs: Mapping[str, JointSpring]) -> None:
    """Give joints of a model their springs."""
    joints = {joint.name: joint for joint in spec.joints}
    for name, spring in springs.items():
        joint = joints[name]
        joint.stiffness[0], joint.springref = spring.stiffness, spring.rest
        joint.damping[0] += spring.damping
