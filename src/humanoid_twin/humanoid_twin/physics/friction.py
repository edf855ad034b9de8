"""Dry friction in the joints: maps over the position per direction, Stribeck and viscous parts.

The maps give the torque at which a joint at rest breaks away. MuJoCo's constraint of dry friction
realizes it: its bound is set before each step, and below the bound the joint does not move.
"""

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

import mujoco
import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_twin.physics.plant import TIME_STEP, FloatArray

# Below it a joint counts as at rest, and the torque on it decides the direction. A joint that the
# constraint holds moves by some 1e-8 rad/s, one that breaks away by more after a single step.
REST: Final = 1e-6  # [rad/s]
# The constraint stops a joint within a step. Its softness alone would let a loaded joint creep.
_SOLREF: Final = (2 * TIME_STEP, 1.0)
_SOLIMP: Final = (0.9999, 0.9999, 0.001, 0.5, 2.0)
_NO_SLIP_ITERATIONS: Final = 5  # of MuJoCo's solver that takes this creep away


class PointError(ConfigError):
    """A point of a curve is wrong; `point` is its index, None if it is the whole curve."""

    def __init__(self, text: str, point: int | None = None) -> None:
        super().__init__(text if point is None else f"point {point}: {text}")
        self.point = point


class BreakawayCurve:
    """The torque [Nm] that sets a joint in motion in one direction, over its position [rad].

    Linear between the points, the last values beyond them.
    """

    def __init__(self, points: Sequence[tuple[float, float]], direction: int) -> None:
        """`points`: position and torque, the torque with the sign of `direction` (1, -1) or 0.

        Raises PointError: fewer than two points, a number that isn't finite, positions that don't
        ascend, or a torque of the other direction.
        """
        if len(points) < 2:
            raise PointError(f"{len(points)} points, expected 2 or more")
        before = -math.inf
        for i, (position, torque) in enumerate(points):
            if not (math.isfinite(position) and math.isfinite(torque)):
                raise PointError(f"{position:g} rad, {torque:g} Nm, expected finite numbers", i)
            if position <= before:
                raise PointError(f"position {position:g} rad, expected more than {before:g} rad", i)
            if torque * direction < 0.0:
                wanted = "0 or more" if direction > 0 else "0 or less"
                raise PointError(f"torque {torque:g} Nm, expected {wanted}", i)
            before = position
        self._positions = [position for position, _ in points]
        self._torques = [abs(torque) for _, torque in points]

    def at(self, position: float) -> float:
        """Return the torque [Nm], 0 or more, at a position [rad]."""
        positions, torques = self._positions, self._torques
        after = bisect_right(positions, position)
        if after == 0:
            return torques[0]
        if after == len(positions):
            return torques[-1]
        start = positions[after - 1]
        share = (position - start) / (positions[after] - start)
        return torques[after - 1] + share * (torques[after] - torques[after - 1])


@dataclass(frozen=True, slots=True, kw_only=True)
class JointFriction:
    """The friction of one joint."""

    forward: BreakawayCurve
    backward: BreakawayCurve
    coulomb: float = 1.0  # part of the breakaway torque that stays at speed, 0 to 1
    stribeck_speed: float = 0.01  # [rad/s] at which 1/e of the rest is left
    viscous: float = 0.0  # [Nm s/rad]

    def dry(self, position: float, velocity: float, forward: bool) -> float:
        """Return the torque [Nm], 0 or more, that dry friction can take at most."""
        breakaway = (self.forward if forward else self.backward).at(position)
        if self.coulomb == 1.0:
            return breakaway
        at_rest = math.exp(-abs(velocity) / self.stribeck_speed)
        return breakaway * (self.coulomb + (1.0 - self.coulomb) * at_rest)


def equip(spec: mujoco.MjSpec, frictions: Mapping[str, JointFriction]) -> None:
    """Give the joints of a model their constraints and viscous friction."""
    joints = {joint.name: joint for joint in spec.joints}
    for name, friction in frictions.items():
        joint = joints[name]
        joint.frictionloss = 1.0  # MuJoCo leaves constraints of 0 out; each step sets the value
        joint.solref_friction, joint.solimp_friction = _SOLREF, _SOLIMP
        joint.damping[0] += friction.viscous
    if frictions:
        spec.option.noslip_iterations = _NO_SLIP_ITERATIONS


class DryFriction:
    """Sets the bounds of the constraints of a model from the motion of its joints."""

    def __init__(
        self, model: mujoco.MjModel, data: mujoco.MjData, frictions: Mapping[str, JointFriction]
    ) -> None:
        """`frictions` are those that the model was equipped with."""
        found = [model.joint(name) for name in frictions]
        self._rows = tuple(
            (int(joint.qposadr[0]), int(joint.dofadr[0]), friction)
            for joint, friction in zip(found, frictions.values(), strict=True)
        )
        # Views with elements of plain floats.
        self._angles, self._speeds = _view(data.qpos), _view(data.qvel)
        self._applied, self._bias = _view(data.qfrc_applied), _view(data.qfrc_bias)
        self._passive = _view(data.qfrc_passive)
        self._bounds = _view(model.dof_frictionloss)
        self._model, self._data = model, data
        self._wrenches: FloatArray = np.zeros(model.nv)  # on links, as torques of the joints

    def update(self) -> None:
        """Set the bounds of the next step, whose torques are in `qfrc_applied`.

        A joint at rest is pushed by these, and by wrenches on links, gravity and springs as of the
        last step.
        """
        self._wrenches[:] = 0.0
        if np.count_nonzero(self._data.xfrc_applied):
            self._add_wrenches()
        for angle, dof, friction in self._rows:
            push = velocity = self._speeds[dof]
            if abs(velocity) <= REST:
                push = self._applied[dof] - self._bias[dof] + self._passive[dof]
                push += self._wrenches[dof]
            self._bounds[dof] = friction.dry(self._angles[angle], velocity, push > 0.0)

    def _add_wrenches(self) -> None:
        data = self._data
        for body in np.flatnonzero(data.xfrc_applied.any(axis=1)).tolist():
            force, torque = np.split(data.xfrc_applied[body], 2)
            mujoco.mj_applyFT(
                self._model, data, force, torque, data.xipos[body], body, self._wrenches
            )


def _view(array: FloatArray) -> "memoryview[float]":
    return cast("memoryview[float]", array.data)
