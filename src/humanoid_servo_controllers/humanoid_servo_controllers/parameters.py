"""Parameters of the servo controllers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_servo_controllers.servo.friction_compensation import DECAY, REST
from humanoid_servo_controllers.servo.pid import PidGains


class Gains(StrictModel):
    """PID gains. The unit of u is Nm, of e that of the command."""

    p: float = Field(ge=0.0, allow_inf_nan=False, description="[u/e].")
    i: float = Field(default=0.0, ge=0.0, allow_inf_nan=False, description="[u/(e s)].")
    d: float = Field(default=0.0, ge=0.0, allow_inf_nan=False, description="[u s/e].")
    i_clamp: float = Field(
        default=0.0,
        ge=0.0,
        allow_inf_nan=False,
        description="Largest integral part [u], either way; 0: no integral part.",
    )
    i_clamp_min: float | None = Field(
        default=None, le=0.0, allow_inf_nan=False, description="In the place of -i_clamp [u]."
    )
    i_clamp_max: float | None = Field(
        default=None, ge=0.0, allow_inf_nan=False, description="In the place of i_clamp [u]."
    )


class JointParameters(StrictModel):
    """Parameters of one joint, in the place of the general ones."""

    gains: Gains | None = Field(default=None, description="PID gains; None: the general ones.")
    max_force: float | None = Field(
        default=None,
        gt=0.0,
        allow_inf_nan=False,
        description="Largest effort [Nm]; None: the general one.",
    )
    friction_deadband: float | None = Field(
        default=None,
        ge=0.0,
        allow_inf_nan=False,
        description="Friction is added in full from this demand on [Nm]; None: the general one.",
    )
    deadband: float | None = Field(
        default=None,
        ge=0.0,
        allow_inf_nan=False,
        description="Half the inner deadband, in the unit of the command; None: the general one.",
    )
    motor_min_force_threshold: float | None = Field(
        default=None,
        ge=0.0,
        allow_inf_nan=False,
        description="Efforts up to it are not sent [Nm]; None: the general threshold.",
    )


# A YAML file has a list, which is no tuple to a strict model.
Pair = Annotated[tuple[str, str], Field(strict=False)]


class ServoParameters(StrictModel):
    """The parameters of all servo controllers."""

    max_force: float | None = Field(
        default=None,
        gt=0.0,
        allow_inf_nan=False,
        description="Largest effort [Nm]; None: that of the description, which always holds.",
    )
    max_force_factor: float = Field(
        default=1.0, ge=0.0, le=1.0, description="Part of max_force that is used at first."
    )
    friction_map: str = Field(default="", description="File of friction maps; empty: none.")
    friction_deadband: float = Field(
        default=0.05,
        ge=0.0,
        allow_inf_nan=False,
        description="Friction is added in full from this demand on [Nm].",
    )
    friction_velocity_threshold: float = Field(
        default=REST,
        ge=0.0,
        allow_inf_nan=False,
        description="Friction is added in full up to this speed [rad/s].",
    )
    friction_velocity_decay: float = Field(
        default=DECAY,
        ge=0.0,
        allow_inf_nan=False,
        description="Above it, friction falls by exp(-decay · speed) [s/rad]; 0: not at all.",
    )
    motor_min_force_threshold: float = Field(
        default=0.0, ge=0.0, allow_inf_nan=False, description="Efforts up to it are not sent [Nm]."
    )
    command_timeout: float = Field(
        default=0.0,
        ge=0.0,
        allow_inf_nan=False,
        description="Age of a command after which the joints are left as they are [s]; 0: never.",
    )
    stale_damping: float = Field(
        default=0.0,
        ge=0.0,
        allow_inf_nan=False,
        description="Of the joints while no command counts [Nm s/rad]: an effort has none.",
    )
    gravity_compensation: bool = Field(
        default=False, description="The loop adds the modelled weight to the effort."
    )
    joint_parameters: dict[str, JointParameters] = Field(
        default_factory=dict, description="Of single joints, by name."
    )
    coupled_joints: dict[str, Pair] = Field(
        default_factory=dict,
        description="Coupled joints: by name two of `joints`; the first has the actuator.",
    )

    @model_validator(mode="after")
    def _weight_has_actuators(self) -> Self:
        if self.gravity_compensation and self.coupled_joints:
            raise ValueError("gravity_compensation: coupled_joints has a joint without an actuator")
        return self


class DeadbandParameters(ServoParameters):
    """The parameters of controllers with a PID loop and a deadband."""

    gains: Gains = Field(description="PID gains of all joints that have none of their own.")
    antiwindup: bool = Field(
        default=True, description="The integral stops where its part reaches the clamp."
    )
    derivative_on_measurement: bool = Field(
        default=False, description="A step of the command gives no kick."
    )
    deadband: float = Field(
        default=0.015,
        ge=0.0,
        allow_inf_nan=False,
        description="Half the inner deadband, in the unit of the command; 0: none.",
    )
    deadband_multiplier: float = Field(
        default=5.0, ge=1.0, allow_inf_nan=False, description="Outer over inner deadband."
    )
    deadband_mode: Literal["sign", "average"] = Field(
        default="sign",
        description="A joint holds when its small error changes its sign, or is small on average.",
    )
    deadband_window: float = Field(default=0.05, gt=0.0, le=10.0, description="Of the average [s].")
    command_step: float = Field(
        default=0.0,
        ge=0.0,
        allow_inf_nan=False,
        description="A command that changes by no more is not a new one.",
    )


class Curve(StrictModel):
    """The velocity at a distance from the target, see VelocityCurve."""

    velocity_slope: float = Field(
        default=10.0, gt=0.0, allow_inf_nan=False, description="Velocity over distance [1/s]."
    )
    min_velocity: float = Field(
        default=-1.0, le=0.0, allow_inf_nan=False, description="Backwards [rad/s]."
    )
    max_velocity: float = Field(
        default=1.0, ge=0.0, allow_inf_nan=False, description="Forwards [rad/s]."
    )

    @model_validator(mode="after")
    def _moves(self) -> Self:
        if self.min_velocity == self.max_velocity == 0.0:
            raise ValueError("min_velocity and max_velocity are 0: nothing would move")
        return self


class MixedParameters(DeadbandParameters, Curve):
    """The parameters of the mixed controller; its gains are those of the velocity."""

    override_to_current_effort: bool = Field(
        default=False, description="A joint that holds keeps the measured effort."
    )


_KEYS: Final = tuple(field.name for field in fields(PidGains))


class PerJoint:
    """Returns the parameter of each joint: its own, or the general one.

    Raises ConfigError for an unknown joint.
    """

    def __init__(self, own: Mapping[str, JointParameters], joints: JointSet) -> None:
        try:
            joints.indices(own)
        except ConfigError as error:
            raise ConfigError(f"joint_parameters: {error}") from error
        self._own = [own.get(name, JointParameters()) for name in joints.names]

    def values(self, key: str, general: float) -> FloatArray:
        """Return parameter `key` of each joint, (n,)."""
        found = [getattr(it, key) for it in self._own]
        return np.array([general if value is None else value for value in found])

    def gains(self, general: Gains) -> PidGains:
        """Return the gains of each joint."""
        return pid_gains([it.gains or general for it in self._own])


def with_gains(gains: PidGains, row: int, changed: Gains) -> PidGains:
    """Return `gains` with those of the joint at `row` changed."""
    new = pid_gains([changed])
    both = {key: getattr(gains, key).copy() for key in _KEYS}
    for key, values in both.items():
        values[row] = getattr(new, key)[0]
    return PidGains(**both)


def pid_gains(gains: list[Gains]) -> PidGains:
    """Return `gains` as arrays."""
    low = [-it.i_clamp if it.i_clamp_min is None else it.i_clamp_min for it in gains]
    high = [it.i_clamp if it.i_clamp_max is None else it.i_clamp_max for it in gains]
    own = (np.array([getattr(it, key) for it in gains]) for key in ("p", "i", "d"))
    p, i, d = own
    return PidGains(p, i, d, np.array(low), np.array(high))
