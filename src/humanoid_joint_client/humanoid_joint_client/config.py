"""The configuration of a robot, as its server sends it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humanoid_joint_client.status import Capability

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint: limits in rad, rad/s and Nm, and how it acts on each part of a command."""

    name: str
    lower: float
    upper: float
    velocity: float
    effort: float
    # Where the effort's limit depends on the position: points of a broken line [rad], [Nm].
    effort_positions: tuple[float, ...]
    efforts: tuple[float, ...]
    capabilities: dict[str, Capability]  # by position, velocity, load, k_q_p, k_qd_p


@dataclass(frozen=True)
class RobotConfig:
    """The configuration of a robot's joint stream. Durations in [s]."""

    joints: tuple[Joint, ...]  # their order is that of all arrays
    update_rate: float  # [Hz] of the control loop
    state_rate: float  # [Hz] of the states by default
    max_horizon: float  # of an update's end time
    min_horizon: float  # a shorter one may pass between two ticks
    activation_grace: float
    lease_timeout: float
    mode_k_q_p: float  # [Nm/rad], the only value where gains act per mode
    mode_k_qd_p: float  # [Nm*s/rad]
    resume_after_expiry: bool
    velocity_safety_floor: float  # [rad/s] always active; 0: none
    ignore_unsupported: bool
    fallback: str

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The joints' names."""
        return tuple(joint.name for joint in self.joints)

    def __len__(self) -> int:
        return len(self.joints)

    def acts_per_tick(self, part: str) -> NDArray[np.bool_]:
        """Return where a part (position, velocity, load, k_q_p …) acts in every tick, (n,)."""
        return np.array([joint.capabilities[part] is Capability.PER_TICK for joint in self.joints])

    def mode_gains(self) -> tuple[FloatArray, FloatArray]:
        """Return the gains of the mode for all joints, which every joint takes: k_q_p, k_qd_p."""
        count = len(self.joints)
        return np.full(count, self.mode_k_q_p), np.full(count, self.mode_k_qd_p)


def config_of(message: Any) -> RobotConfig:
    """Return the configuration in a message."""
    return RobotConfig(
        joints=tuple(_joint_of(it) for it in message.joints),
        update_rate=message.update_rate,
        state_rate=message.state_rate,
        max_horizon=message.max_horizon * 1e-9,
        min_horizon=message.min_horizon * 1e-9,
        activation_grace=message.activation_grace * 1e-9,
        lease_timeout=message.lease_timeout * 1e-9,
        mode_k_q_p=message.mode_k_q_p,
        mode_k_qd_p=message.mode_k_qd_p,
        resume_after_expiry=message.resume_after_expiry,
        velocity_safety_floor=message.velocity_safety_floor,
        ignore_unsupported=message.ignore_unsupported,
        fallback=message.fallback,
    )


def _joint_of(message: Any) -> Joint:
    parts = ("position", "velocity", "load", "k_q_p", "k_qd_p")
    return Joint(
        message.name,
        message.lower,
        message.upper,
        message.velocity,
        message.effort,
        tuple(message.effort_positions),
        tuple(message.efforts),
        {part: Capability(getattr(message, f"{part}_acts")) for part in parts},
    )
