"""The terms of an observation, by the names that the metadata of a policy uses."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_policy.observation.inputs import ObservationInputs, Reference


class Source(Enum):
    """The source of a term's values, besides the joints."""

    JOINTS = "the measured joints"
    MOTION = "a motion to follow"
    IMU = "an IMU"
    VELOCITY = "velocity commands"


class Size(Enum):
    """The number of values of a term."""

    JOINTS = "one per joint of joint_names"
    ACTION = "one per joint of action_joint_names"
    ONE = "1"
    THREE = "3"


@dataclass(frozen=True, slots=True)
class Term:
    """One term.

    Args:
        value: returns it, (..., size), from the inputs and the default positions [rad], (n,).
        size: of it.
        source: of its values.
        meaning: for people, with its unit.
    """

    value: Callable[[ObservationInputs, FloatArray], FloatArray]
    size: Size
    source: Source
    meaning: str


def _given(value: FloatArray | None, what: str) -> FloatArray:
    if value is None:
        raise ValueError(f"the observation needs {what}, which the inputs do not have")
    return value


def _reference(inputs: ObservationInputs) -> Reference:
    if inputs.reference is None:
        raise ValueError(f"the observation needs {Source.MOTION.value}")
    return inputs.reference


TERMS: Final[Mapping[str, Term]] = MappingProxyType(
    {
        "joint_pos": Term(
            lambda it, default: it.position - default,
            Size.JOINTS,
            Source.JOINTS,
            "measured position - default [rad]",
        ),
        "joint_vel": Term(
            lambda it, default: it.velocity,
            Size.JOINTS,
            Source.JOINTS,
            "measured velocity [rad/s]",
        ),
        "joint_effort": Term(
            lambda it, default: it.effort, Size.JOINTS, Source.JOINTS, "measured effort [Nm]"
        ),
        "actions": Term(
            lambda it, default: it.action,
            Size.ACTION,
            Source.JOINTS,
            "action of the policy step before, unscaled; 0 at first",
        ),
        "reference_joint_pos": Term(
            lambda it, default: _reference(it).position - default,
            Size.JOINTS,
            Source.MOTION,
            "position of the motion - default [rad]",
        ),
        "reference_joint_vel": Term(
            lambda it, default: _reference(it).velocity,
            Size.JOINTS,
            Source.MOTION,
            "velocity of the motion [rad/s]",
        ),
        "joint_pos_error": Term(
            lambda it, default: _reference(it).position - it.position,
            Size.JOINTS,
            Source.MOTION,
            "position of the motion - measured position [rad]",
        ),
        "phase": Term(
            lambda it, default: _reference(it).phase,
            Size.ONE,
            Source.MOTION,
            "how much of the motion is done, 0 to 1",
        ),
        "base_ang_vel": Term(
            lambda it, default: _given(it.angular_velocity, Source.IMU.value),
            Size.THREE,
            Source.IMU,
            "angular velocity of the base, in its frame [rad/s]",
        ),
        "projected_gravity": Term(
            lambda it, default: _given(it.gravity, Source.IMU.value),
            Size.THREE,
            Source.IMU,
            "direction of gravity in the frame of the base; upright: 0, 0, -1",
        ),
        "velocity_commands": Term(
            lambda it, default: _given(it.velocity_command, Source.VELOCITY.value),
            Size.THREE,
            Source.VELOCITY,
            "vx, vy [m/s] and wz [rad/s]; 0 without a fresh command",
        ),
    }
)


def projected_gravity(orientation: FloatArray) -> FloatArray:
    """Return the direction of gravity in the frame of the base, (..., 3).

    Args:
        orientation: of the base in the world, unit quaternion x, y, z, w, (..., 4).
    """
    x, y, z, w = np.moveaxis(orientation, -1, 0)
    down: FloatArray = np.stack(
        [2.0 * (w * y - x * z), -2.0 * (w * x + y * z), 2.0 * (x * x + y * y) - 1.0], axis=-1
    )
    return down
