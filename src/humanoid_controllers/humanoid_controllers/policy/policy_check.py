"""Check that a policy fits the robot."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointSet
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controllers.policy.parameters import MotionParameters
from humanoid_motion.errors import MotionRefusedError
from humanoid_policy.metadata import ActionKind, PolicyMetadata
from humanoid_policy.motion_reference import MotionReference, WaypointMotion
from humanoid_policy.observation.observation import Observation
from humanoid_policy.observation.terms import TERMS, Source

ROUNDING: Final = 1e-3  # relative, of a period that was written as a decimal number


def joint_rows(metadata: PolicyMetadata, joints: JointSet) -> IndexArray:
    """Return where the policy's joints are among those of the controller, (n,).

    Raises ConfigError unless they are the same joints.
    """
    unknown = [name for name in metadata.joint_names if name not in joints.names]
    missing = [name for name in joints.names if name not in metadata.joint_names]
    if unknown or missing:
        parts = (("unknown", unknown), ("missing", missing))
        words = "; ".join(f"{what}: {', '.join(names)}" for what, names in parts if names)
        raise ConfigError(
            f"joint_names of the model: {words}; the controller has {', '.join(joints.names)}. "
            "A list `joints` in its parameters makes it claim some joints only"
        )
    return joints.indices(metadata.joint_names)


def check_period(metadata: PolicyMetadata, update_rate: float) -> None:
    """Raise ConfigError unless the policy period is a whole number of ticks."""
    ticks = metadata.policy_period * update_rate
    whole = round(ticks)
    if whole < 1 or abs(ticks - whole) > ROUNDING * whole:
        raise ConfigError(
            f"policy_period of the model: found {metadata.policy_period:g} s, which is {ticks:.3g} "
            f"ticks at {update_rate:g} Hz, expected a whole number of ticks"
        )


def check_robot(metadata: PolicyMetadata, robot: RobotFacts) -> None:
    """Raise ConfigError for a default position beyond the limits, or efforts that cannot act.

    `robot` has the joints of the policy, in its order.
    """
    lower, upper = robot.limits.target_lower, robot.limits.target_upper
    for i, (name, value) in enumerate(
        zip(metadata.joint_names, metadata.default_joint_pos, strict=True)
    ):
        if not lower[i] <= value <= upper[i]:
            raise ConfigError(
                f"default_joint_pos of the model: {name} (index {i}): found {value:g} rad, allowed "
                f"{lower[i]:g} to {upper[i]:g} rad"
            )
    if metadata.action_kind is ActionKind.TORQUES:
        rows = list(metadata.action_rows)
        without = ~robot.acts_per_tick("effort")[rows]
        if without.any():
            names = JointSet(metadata.action_joint_names).named(without)
            raise ConfigError(
                f"action_kind of the model is torques, but no effort acts on {names}: give these "
                "joints targets, or leave them out of action_joint_names"
            )


def motion_of(
    metadata: PolicyMetadata, given: MotionParameters | None, robot: RobotFacts
) -> MotionReference | None:
    """Return the motion that the policy follows, None if there is none.

    `robot` has the joints of the policy, in its order. Raises ConfigError for an invalid motion,
    and for a missing motion that the policy needs.
    """
    if given is None:
        needed = _needing_motion(metadata)
        if needed:
            raise ConfigError(f"motion: is missing; the model needs it for {', '.join(needed)}")
        return None
    default: FloatArray = np.array(metadata.default_joint_pos)
    try:
        return WaypointMotion(robot.joints, default, robot.limits, given.joints, given.waypoints)
    except MotionRefusedError as error:
        raise ConfigError(f"motion: {error}") from error


def _needing_motion(metadata: PolicyMetadata) -> Sequence[str]:
    found = [name for name in Observation(metadata).slices if TERMS[name].source is Source.MOTION]
    if metadata.action_kind is ActionKind.RESIDUALS:
        found.append("action_kind residuals")
    return found
