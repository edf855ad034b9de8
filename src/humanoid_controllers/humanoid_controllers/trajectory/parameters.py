"""Parameters of the trajectory controller, by the names of upstream's joint_trajectory_controller.

The joint limits have the names of MoveIt's joint_limits.yaml.
"""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

import numpy as np
from pydantic import ConfigDict, Field

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_controller_manager.controller import ModeGains, RobotFacts
from humanoid_motion.trajectory.limits import MotionLimits

Interfaces: TypeAlias = list[Literal["position", "velocity"]]
LONGEST_JOG: Final = 5.0  # [s] that a joint moves on after a key was released, or a line was lost
FASTEST: Final = 1000.0  # [Hz]: more would take the whole time of the thread
BOTH: Final[Interfaces] = ["position", "velocity"]


class JointConstraints(StrictModel):
    """Tolerances of one joint; 0: not checked."""

    trajectory: float = Field(default=0.0, ge=0.0, description="On the way [rad].")
    goal: float = Field(default=0.0, ge=0.0, description="At the end [rad].")


class Constraints(StrictModel):
    """Tolerances; further keys are names of joints, with their JointConstraints."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True)
    __pydantic_extra__: dict[str, JointConstraints]

    goal_time: float = Field(
        default=0.0,
        ge=0.0,
        description="Time to reach the goal after the trajectory's end [s]; 0: any.",
    )
    # Upstream's default is 0.01, which the noise of a measured velocity may exceed for ever.
    stopped_velocity_tolerance: float = Field(
        default=0.1, ge=0.0, description="At the end [rad/s]; 0: any."
    )


class JointMotion(StrictModel):
    """Limits of the motion of one joint, in the place of the general ones."""

    max_velocity: float | None = Field(
        default=None, gt=0.0, description="At most the description's [rad/s]."
    )
    max_acceleration: float | None = Field(
        default=None, gt=0.0, description="Acceleration [rad/s^2]."
    )
    max_jerk: float | None = Field(
        default=None, gt=0.0, description="Jerk of planned motions [rad/s^3]."
    )


class TrajectoryParameters(StrictModel):
    """Parameters of the trajectory controller."""

    stiffness: float | None = Field(
        default=None,
        gt=0.0,
        description="Stiffness [Nm/rad]; the manager's hold_stiffness if left out.",
    )
    damping: float | None = Field(
        default=None,
        gt=0.0,
        description="Damping [Nm*s/rad]; the manager's hold_damping if left out.",
    )
    command_interfaces: Interfaces = Field(
        default=BOTH, description="Commanded: position; velocity too where it acts."
    )
    state_interfaces: Interfaces = Field(
        default=BOTH, description="Measured for the tolerances: position; velocity too."
    )
    allow_partial_joints_goal: bool = Field(
        default=False, description="Accept trajectories of some joints; the others hold."
    )
    # Upstream's defaults of the rates.
    action_monitor_rate: float = Field(
        default=20.0,
        ge=0.1,
        le=FASTEST,
        description="Rate of feedback, and of looking for a goal's end [Hz].",
    )
    state_publish_rate: float = Field(
        default=50.0, gt=0.0, le=FASTEST, description="Highest rate of ~/controller_state [Hz]."
    )
    interpolation_method: Literal["splines"] = Field(
        default="splines", description="Between two points: polynomials."
    )
    # Upstream's keys that change nothing here; a goal that needs one of the last two is refused.
    open_loop_control: bool = Field(
        default=True, description="Without effect: a motion begins at the commanded pose."
    )
    interpolate_from_desired_state: bool = Field(
        default=True, description="Without effect: a motion begins at the commanded pose."
    )
    set_last_command_interface_value_as_state_on_activation: bool = Field(
        default=False, description="Without effect: the measured pose is held at the activation."
    )
    cmd_timeout: float = Field(
        default=0.0, ge=0.0, description="Without effect: a motion ends at rest [s]."
    )
    allow_integration_in_goal_trajectories: bool = Field(
        default=False, description="Without effect: each point needs positions."
    )
    allow_nonzero_velocity_at_trajectory_end: bool = Field(
        default=False, description="Without effect: the last point needs velocity 0."
    )
    constraints: Constraints = Field(
        default_factory=lambda: Constraints.model_validate({}),
        description="Tolerances of the motion and of its end.",
    )
    # The description has no limit of acceleration. 4 rad/s² accelerates an arm of 1 kg m² with
    # 4 Nm, a tenth of what Prime's shoulders give.
    max_acceleration: float = Field(default=4.0, gt=0.0, description="Of every joint [rad/s^2].")
    max_jerk: float = Field(default=40.0, gt=0.0, description="Of planned motions [rad/s^3].")
    gravity_compensation: bool = Field(
        default=False, description="Hold the joints against gravity beside the motion."
    )
    joint_limits: dict[str, JointMotion] = Field(
        default_factory=dict, description="Limits of single joints, by name."
    )
    start_tolerance: float = Field(
        default=0.1,
        gt=0.0,
        description="Of a first point at time 0 to the commanded pose [rad].",
    )
    jog_timeout: float = Field(
        default=0.2, gt=0.0, le=LONGEST_JOG, description="Of a jog without news [s]."
    )


def mode_gains(parameters: TrajectoryParameters, robot: RobotFacts) -> ModeGains:
    """Return the gains. Raises ConfigError where neither controller nor robot has them."""
    held = robot.hold_gains
    stiffness = parameters.stiffness or (held and held.stiffness)
    damping = parameters.damping or (held and held.damping)
    if stiffness is None or damping is None:
        raise ConfigError(
            "expected stiffness and damping: the controller_manager has no hold_stiffness and "
            "hold_damping to take instead"
        )
    return ModeGains(stiffness, damping)


def motion_limits(parameters: TrajectoryParameters, robot: RobotFacts) -> MotionLimits:
    """Return the limits of each joint. Raises ConfigError for an unknown joint."""
    _refuse_unknown("joint_limits", parameters.joint_limits, robot.joints)
    limits = robot.limits
    velocity = limits.velocity.copy()
    acceleration = np.full(len(robot.joints), parameters.max_acceleration)
    jerk = np.full(len(robot.joints), parameters.max_jerk)
    for i, name in enumerate(robot.joints.names):
        own = parameters.joint_limits.get(name, JointMotion())
        velocity[i] = min(velocity[i], own.max_velocity or velocity[i])
        acceleration[i] = own.max_acceleration or acceleration[i]
        jerk[i] = own.max_jerk or jerk[i]
    return MotionLimits(limits.target_lower, limits.target_upper, velocity, acceleration, jerk)


def tolerances(constraints: Constraints, joints: JointSet) -> tuple[FloatArray, FloatArray]:
    """Return the tolerances [rad] during the motion and at the end, (n,); inf: not checked.

    Raises ConfigError for an unknown joint.
    """
    own = constraints.__pydantic_extra__
    _refuse_unknown("constraints", own, joints)
    found = [own.get(name, JointConstraints()) for name in joints.names]
    return (
        np.array([it.trajectory or np.inf for it in found]),
        np.array([it.goal or np.inf for it in found]),
    )


def _refuse_unknown(key: str, names: Mapping[str, object], joints: JointSet) -> None:
    try:
        joints.indices(names)
    except ConfigError as error:
        raise ConfigError(f"{key}: {error}") from error
