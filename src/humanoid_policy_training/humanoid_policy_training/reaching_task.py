"""The reaching task of a robot: its joints, gains, scales, and the place of everything in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import mujoco
import numpy as np
from numpy.typing import NDArray

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import SIMULATION_UPDATE_RATE, description
from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.robot.joints import FloatArray, JointLimits
from humanoid_control_common.robot.mit_interface import Capability
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_devices_mujoco.model import build_model
from humanoid_devices_mujoco.mujoco_system import MujocoSystem
from humanoid_devices_mujoco.settings import parse_settings
from humanoid_policy.action import ActionLaw
from humanoid_policy.metadata import ActionKind, PolicyMetadata
from humanoid_policy.observation.observation import Observation
from humanoid_policy_training.arm_network import ArmNetwork, Float32

PERIOD: Final = 0.02  # [s] of the policy: one cycle of the robot's loop at 50 Hz
STIFFNESS: Final = 20.0  # [Nm/rad] of LOCOMOTION, as of STANDBY
DAMPING: Final = 2.0  # [Nm*s/rad]
HIDDEN: Final = 32
# [rad] that a motion goes on while an action acts, 20 to 40 ms after its observation, at 2 rad/s:
# a target beyond the range of a joint ends a policy on the robot.
MARGIN: Final = 0.1
# Terms of the observation, and their scales: inputs of the network are about 1.
OBSERVATIONS: Final = {
    "joint_pos_error": 5.0,
    "joint_vel": 0.5,
    "actions": 1.0,
    "reference_joint_pos": 1.0,
    "reference_joint_vel": 0.5,
}
# Largest residual [rad] by the middle of the joint's name: what holds 1.5 kg.
SCALES: Final = {"shoulder": 1.2, "elbow": 0.9, "wrist": 0.3}


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


@dataclass(frozen=True, slots=True)
class ReachingTask:
    """A robot with two arms, and the network that moves it."""

    model: mujoco.MjModel
    metadata: PolicyMetadata
    limits: JointLimits
    takes_velocity: FloatArray  # 1 where a commanded velocity acts, (n_joints,)
    hands: tuple[str, ...]  # bodies that carry a payload
    network: ArmNetwork
    bounds: ActionBounds
    observation: Observation
    action_law: ActionLaw


def reaching_task(robot: str) -> ReachingTask:
    """Return the task of an installed robot with joints left_… and right_….

    Raises ConfigError for an unknown robot.
    """
    options = Options(backend=Backend.MUJOCO, robot=find_robot(robot))
    known = parse_robot_description(description(options), SIMULATION_UPDATE_RATE)
    (block,) = known.blocks
    system = MujocoSystem()
    system.on_configure(block)
    takes_velocity = system.capabilities()[1] == Capability.PER_TICK
    names = known.joints.names
    metadata = PolicyMetadata(
        task="reaching",
        joint_names=names,
        joint_stiffness=(STIFFNESS,) * len(names),
        joint_damping=(DAMPING,) * len(names),
        default_joint_pos=(0.0,) * len(names),
        action_joint_names=names,
        action_kind=ActionKind.RESIDUALS,
        action_scale=tuple(SCALES[name.split("_")[1]] for name in names),
        observation_names=tuple(OBSERVATIONS),
        observation_scales=tuple(OBSERVATIONS.values()),
        policy_period=PERIOD,
    )
    observation = Observation(metadata)
    return ReachingTask(
        build_model(block, parse_settings(block)),
        metadata,
        known.limits,
        takes_velocity.astype(np.float64),
        tuple(f"{side}_wrist_yaw_link" for side in ("left", "right")),
        _network(names),
        _bounds(observation, metadata, known.limits),
        observation,
        ActionLaw(metadata),
    )


def _bounds(
    observation: Observation, metadata: PolicyMetadata, limits: JointLimits
) -> ActionBounds:
    place = observation.slices["reference_joint_pos"]
    return ActionBounds(
        np.arange(place.start, place.stop),
        (limits.target_lower + MARGIN).astype(np.float32),
        (limits.target_upper - MARGIN).astype(np.float32),
        np.array(metadata.scales, dtype=np.float32),
    )


def _network(names: Sequence[str]) -> ArmNetwork:
    """Return the network of both arms. In the mirror, roll and yaw change their sign."""
    arms = [
        np.array([i for i, name in enumerate(names) if name.startswith(side)])
        for side in ("left", "right")
    ]
    count, terms = len(names), len(OBSERVATIONS)
    places = np.stack([np.concatenate([arm + i * count for i in range(terms)]) for arm in arms])
    mirror = np.array([1.0 if names[i].endswith("pitch") else -1.0 for i in arms[1]])
    action_signs = np.stack([np.ones_like(mirror), mirror]).astype(np.float32)
    return ArmNetwork(places, np.tile(action_signs, terms), action_signs, HIDDEN)
