"""Distances between the links of a robot, by MuJoCo's geometry of their collision shapes."""

import copy
from collections.abc import Collection, Mapping, Sequence
from typing import Final, Self

import mujoco
import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.description.mujoco_input import (
    exclude_neighbours,
    in_one_line,
    mujoco_input,
)
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.collision.checked_shapes import checked_shapes
from humanoid_motion.collision.clearance import DETECTED, Clearance, LinkPair
from humanoid_motion.collision.semantic_description import refuse_unknown_links

FARTHEST: Final = 10.0  # [m]; larger distances count as this one in `between`


class CollisionModel:
    """The collision shapes of a robot and its joints. Not for two threads at the same time."""

    def __init__(
        self, urdf: str, joints: Sequence[str], disabled: Mapping[LinkPair, str] | None = None
    ) -> None:
        """Build the model of `urdf`. A joint that is not in `joints` stays at 0.

        `disabled`: pairs that need no check. None: only the links of one joint.

        Raises ConfigError for a URDF that MuJoCo refuses, a joint that it has not, and a disabled
        pair with an unknown link; MeshError for a mesh that is missing or broken.
        """
        found = mujoco_input(urdf)
        try:
            spec = mujoco.MjSpec.from_string(found.urdf, assets=found.meshes)
            spec.compiler.fusestatic = False  # every link keeps its name
            # Without it distances of boxes and cylinders are rough.
            spec.option.disableflags &= ~int(mujoco.mjtDisableBit.mjDSBL_NATIVECCD)
            if disabled is None:
                exclude_neighbours(spec)
            else:
                _exclude(spec, disabled)
            self._model = spec.compile()
        except ValueError as error:
            raise ConfigError(
                f"collision shapes: MuJoCo refuses the URDF: {in_one_line(error)}"
            ) from error
        self._data = mujoco.MjData(self._model)
        checked = checked_shapes(self._model, neighbours=disabled is not None)
        self._checked = checked
        self._first, self._second = np.array(checked, dtype=np.intp).reshape(-1, 2).T
        bounds = self._model.geom_rbound
        self._bounds = bounds[self._first] + bounds[self._second]  # [m] of the spheres around them
        self._joints = tuple(joints)
        self._address = self._addresses(joints)
        self.names: tuple[str, ...] = tuple(
            self._model.body(body).name for body in self._model.geom_bodyid
        )
        self.reach = self.reach_of(self.names)  # [m]

    def another(self) -> Self:
        """Return the same model for another thread."""
        other = copy.copy(self)
        other._data = mujoco.MjData(self._model)  # noqa: SLF001 - of the same class
        return other

    def clearance(self, position: FloatArray) -> Clearance:
        """Return the smallest distance at `position` (n_joints,) [rad]."""
        least = self._least(position)
        order = least.argsort()
        distance, nearest = DETECTED, -1
        for i, bound in zip(order.tolist(), least[order].tolist(), strict=True):
            if bound >= distance:
                break
            found = self._distance(i, distance)
            if found < distance:
                distance, nearest = found, i
        return Clearance(distance, None if nearest < 0 else self._pair(nearest))

    def pairs(self, position: FloatArray) -> dict[LinkPair, float]:
        """Return the distance [m] of every pair nearer than DETECTED at `position` (n_joints,)."""
        found: dict[LinkPair, float] = {}
        for i in np.flatnonzero(self._least(position) < DETECTED).tolist():
            distance = self._distance(i, DETECTED)
            if distance < DETECTED:
                pair = self._pair(i)
                found[pair] = min(found.get(pair, DETECTED), distance)
        return found

    def between(self, pair: LinkPair, position: FloatArray) -> float:
        """Return the distance [m] of two links at `position` (n_joints,), up to FARTHEST."""
        model, data = self._model, self._data
        self._place(position)
        distances = [
            float(mujoco.mj_geomDistance(model, data, one, other, FARTHEST, None))
            for one in self._shapes(pair.first)
            for other in self._shapes(pair.second)
        ]
        return min(distances)

    def joints_between(self, pair: LinkPair) -> list[int]:
        """Return the indices of the joints whose angles change how the two links are placed."""
        names = self._chain(pair.first) ^ self._chain(pair.second)
        return [i for i, name in enumerate(self._joints) if name in names]

    def _shapes(self, link: str) -> list[int]:
        return [geom for geom, name in enumerate(self.names) if name == link]

    def _chain(self, link: str) -> set[str]:
        """Return the joints between the world and `link`."""
        model = self._model
        found: set[str] = set()
        body = int(model.body(link).id)
        while body:
            first = int(model.body_jntadr[body])
            found |= {model.joint(i).name for i in range(first, first + model.body_jntnum[body])}
            body = int(model.body_parentid[body])
        return found

    def _least(self, position: FloatArray) -> FloatArray:
        """Return a lower bound [m] for each pair of shapes at `position`: of their spheres."""
        self._place(position)
        away = self._data.geom_xpos[self._first] - self._data.geom_xpos[self._second]
        least: FloatArray = np.sqrt(np.einsum("ij,ij->i", away, away)) - self._bounds
        return least

    def _distance(self, number: int, most: float) -> float:
        """Return the distance [m] of a pair of shapes where they are; `most` if it is larger."""
        one, other = self._checked[number]
        # Not MuJoCo's contacts: with a margin they miss boxes that are near, and are rough.
        return float(mujoco.mj_geomDistance(self._model, self._data, one, other, most, None))

    def _pair(self, number: int) -> LinkPair:
        """Return the links of a pair of shapes."""
        one, other = self._checked[number]
        return LinkPair.of(self.names[one], self.names[other])

    def _place(self, position: FloatArray) -> None:
        self._data.qpos[self._address] = position
        mujoco.mj_kinematics(self._model, self._data)

    def _addresses(self, joints: Sequence[str]) -> NDArray[np.intp]:
        model = self._model
        names = {model.joint(i).name: int(model.jnt_qposadr[i]) for i in range(model.njnt)}
        missing = [name for name in joints if name not in names]
        if missing:
            raise ConfigError(
                f"collision shapes: the robot description has no joint {', '.join(missing)}"
            )
        return np.array([names[name] for name in joints], dtype=np.intp)

    def reach_of(self, links: Collection[str]) -> FloatArray:
        """Return how far [m] any shape of `links` is from the axis of each joint, (n_joints,).

        An upper bound for all poses: shapes count as the spheres around them.
        """
        model = self._model
        reach = dict.fromkeys(self._joints, 0.0)
        for geom, carrier in enumerate(model.geom_bodyid.tolist()):
            if self.names[geom] not in links:
                continue
            centre, body = model.geom_pos[geom], carrier
            away = 0.0  # [m] of the shape's centre from the place `centre` in the frame of `body`
            while body:
                first = int(model.body_jntadr[body])
                for joint in range(first, first + int(model.body_jntnum[body])):
                    name = model.joint(joint).name
                    if name in reach:
                        arm = np.cross(centre - model.jnt_pos[joint], model.jnt_axis[joint])
                        far = model.geom_rbound[geom] + away + np.linalg.norm(arm)
                        reach[name] = max(reach[name], float(far))
                away += float(np.linalg.norm(centre))
                centre = model.body_pos[body]
                body = int(model.body_parentid[body])
        return np.array([reach[name] for name in self._joints])


def _exclude(spec: mujoco.MjSpec, disabled: Mapping[LinkPair, str]) -> None:
    refuse_unknown_links(disabled, {body.name for body in spec.bodies}, "collision shapes")
    for pair in disabled:
        spec.add_exclude(bodyname1=pair.first, bodyname2=pair.second)
