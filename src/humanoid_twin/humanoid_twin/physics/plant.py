"""The plant that the drives turn: its interface, and single inertias."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from humanoid_control_common.errors import ConfigError

FloatArray = npt.NDArray[np.float64]
TIME_STEP: Final = 0.001  # [s], that of the drives' loops


class Plant(Protocol):
    """All joints of the robot, in the joint frame; the arrays (n_joints,) are updated in place.

    Drives set the elements of `torque`, then the plant is stepped once for all of them.
    """

    @property
    def position(self) -> FloatArray:
        """Joint angles [rad]."""

    @property
    def velocity(self) -> FloatArray:
        """Joint speeds [rad/s]."""

    @property
    def torque(self) -> FloatArray:
        """Torques of the drives [Nm], each held until its drive sets it again."""

    def set_external_torque(self, joint: int, torque: float) -> None:
        """Set the torque [Nm] from outside on the joint, held until set again."""

    def set_brake(self, joint: int, *, engaged: bool) -> None:
        """Engage or release a holding brake, which blocks the joint."""

    def set_state(self, joint: int, position: float, velocity: float) -> None:
        """Set angle [rad] and speed [rad/s] of a joint."""

    def step(self, dt: float) -> None:
        """Advance all joints by dt [s]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inertia:
    """One joint without coupling to others: a pendulum with friction.

    Raises:
        ConfigError: inertia that isn't positive, or negative friction.
    """

    inertia: float  # [kg m²] at the joint, rotor included
    viscous: float = 0.0  # [Nm s/rad]
    coulomb: float = 0.0  # [Nm]
    gravity: float = 0.0  # [Nm] m·g·l, torque with the limb level
    rest: float = 0.0  # [rad] angle of the hanging limb

    def __post_init__(self) -> None:
        if not (math.isfinite(self.inertia) and self.inertia > 0):
            raise ConfigError(f"joint: inertia is {self.inertia} kg m², expected > 0")
        if self.viscous < 0 or self.coulomb < 0:
            raise ConfigError(f"joint: friction {self.viscous}, {self.coulomb}, expected >= 0")


class SingleInertias:
    """Joints without coupling, integrated by semi-implicit Euler.

    Friction is implicit, so it never pushes: a joint that Coulomb friction can hold stands still.
    """

    def __init__(self, joints: Sequence[Inertia], positions: Sequence[float] | None = None) -> None:
        """`positions`: initial angles [rad]; all at rest without them."""
        count = len(joints)
        if positions is not None and len(positions) != count:
            raise ConfigError(f"plant: {len(positions)} positions for {count} joints")
        self._inertia = np.array([joint.inertia for joint in joints])
        self._viscous = np.array([joint.viscous for joint in joints])
        self._coulomb = np.array([joint.coulomb for joint in joints])
        self._gravity = np.array([joint.gravity for joint in joints])
        self._rest = np.array([joint.rest for joint in joints])
        self.position: FloatArray = self._rest.copy()
        if positions is not None:
            self.position[:] = positions
        self.velocity: FloatArray = np.zeros(count)
        self.torque: FloatArray = np.zeros(count)
        self._external = np.zeros(count)
        self._free = np.ones(count)  # 0 where a brake holds

    def set_external_torque(self, joint: int, torque: float) -> None:
        """See Plant."""
        self._external[joint] = torque

    def set_brake(self, joint: int, *, engaged: bool) -> None:
        """See Plant."""
        self._free[joint] = 0.0 if engaged else 1.0

    def set_state(self, joint: int, position: float, velocity: float) -> None:
        """See Plant."""
        self.position[joint] = position
        self.velocity[joint] = velocity

    def step(self, dt: float) -> None:
        """See Plant."""
        weight = self._gravity * np.sin(self.position - self._rest)
        momentum = self._inertia * self.velocity + dt * (self.torque + self._external - weight)
        stopped = np.maximum(np.abs(momentum) - dt * self._coulomb, 0.0)
        speed = np.copysign(stopped, momentum) / (self._inertia + dt * self._viscous)
        self.velocity[:] = speed * self._free
        self.position += self.velocity * dt
