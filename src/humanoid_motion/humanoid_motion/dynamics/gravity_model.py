"""The torques that hold a robot against gravity, by MuJoCo's inverse dynamics."""

import copy
from collections.abc import Sequence
from typing import Final, Self

import mujoco
import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.description.mujoco_input import in_one_line, mujoco_input
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.dynamics.payload import Payload

_WITHOUT_ACCELERATION: Final = 0


class GravityModel:
    """The masses of a robot that stands upright. Not for two threads at the same time.

    Args:
        urdf: its description. Gravity is that of `<mujoco><option>`, by default 9.81 m/s² downwards
            along the z axis of the world.
        joints: their order in arrays. A joint that is not among them stays at 0.

    Raises ConfigError for a URDF that MuJoCo refuses and a joint that it has not; MeshError for a
    mesh that is missing or broken.
    """

    def __init__(self, urdf: str, joints: Sequence[str]) -> None:
        found = mujoco_input(urdf)
        try:
            spec = mujoco.MjSpec.from_string(found.urdf, assets=found.meshes)
            spec.compiler.fusestatic = False  # every link keeps its name
            self._model = model = spec.compile()
        except ValueError as error:
            raise ConfigError(f"masses: MuJoCo refuses the URDF: {in_one_line(error)}") from error
        known = {model.joint(i).name: i for i in range(model.njnt)}
        missing = [name for name in joints if name not in known]
        if missing:
            raise ConfigError(f"masses: the robot description has no joint {', '.join(missing)}")
        rows = [known[name] for name in joints]
        self._joint_bodies = [int(model.jnt_bodyid[row]) for row in rows]
        self._angles = np.array([model.jnt_qposadr[row] for row in rows], dtype=np.intp)
        self._speeds = np.array([model.jnt_dofadr[row] for row in rows], dtype=np.intp)
        self._make_data()
        disabled = model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
        # [m/s²] force per mass that holds it
        self._up: FloatArray = np.zeros(3) if disabled else -model.opt.gravity
        self._bodies = {
            model.body(body).name: body for body in range(1, model.nbody) if self._moves(body)
        }
        self.links: tuple[str, ...] = tuple(self._bodies)

    def another(self) -> Self:
        """Return the same model for another thread."""
        other = copy.copy(self)
        other._make_data()  # noqa: SLF001 - of the same class
        return other

    def torque(self, position: FloatArray, payloads: Sequence[Payload] = ()) -> FloatArray:
        """Return the torque [Nm] (n_joints,) that holds the robot at `position` [rad] (n_joints,).

        Raises KeyError for a payload at a link that is not one of `links`.
        """
        self._place(position)
        mujoco.mj_rne(self._model, self._data, _WITHOUT_ACCELERATION, self._forces)
        torque: FloatArray = self._forces[self._speeds]
        for payload in payloads:
            body = self._bodies[payload.link]
            axes = self._data.xmat[body].reshape(3, 3)
            place = self._data.xpos[body] + axes @ payload.centre_of_mass
            mujoco.mj_jac(self._model, self._data, self._linear, None, place, body)
            torque += payload.mass * (self._up @ self._linear)[self._speeds]
        return torque

    def payload_torques(self, position: FloatArray, link: str) -> tuple[FloatArray, FloatArray]:
        """Return the torques that hold a payload of `link` at `position` [rad] (n_joints,).

        Per mass at the link's origin [Nm/kg], (n_joints,), and per mass times centre of mass in the
        link's axes [Nm/(kg m)], (n_joints, 3). Raises KeyError for an unknown link.
        """
        model, data, body = self._model, self._data, self._bodies[link]
        self._place(position)
        mujoco.mj_jac(model, data, self._linear, self._angular, data.xpos[body], body)
        axes = data.xmat[body].reshape(3, 3)
        per_mass: FloatArray = self._up @ self._linear[:, self._speeds]
        # (w x R c) . up = c . R^T (up x w)
        per_moment: FloatArray = np.cross(self._up, self._angular[:, self._speeds].T) @ axes
        return per_mass, per_moment

    def along(self, link: str) -> FloatArray:
        """Return the direction (3,) from the origin of `link` to its centre of mass.

        The z axis where both are at one place.
        """
        offset: FloatArray = self._model.body_ipos[self._bodies[link]]
        length = float(np.linalg.norm(offset))
        return offset / length if length > 0.0 else np.array([0.0, 0.0, 1.0])

    def joints_above(self, link: str) -> NDArray[np.bool_]:
        """Return which joints move `link`, (n_joints,). Raises KeyError for an unknown link."""
        return np.isin(self._joint_bodies, self._bodies_above(self._bodies[link]))

    def in_chain_with(self, joints: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the joints whose torque depends on the angle of one of `joints`, (n_joints,)."""
        own = self._joint_bodies
        above = np.array([np.isin(own, self._bodies_above(body)) for body in own])
        chains: NDArray[np.bool_] = (above | above.T)[:, joints].any(axis=1)
        return chains

    def check_link(self, link: str) -> None:
        """Raise ConfigError unless `link` is one of `links`."""
        if link not in self.links:
            raise ConfigError(f"payload: no link '{link}' moves; known: {', '.join(self.links)}")

    def checked(self, payload: Payload, largest: float) -> Payload:
        """Return `payload`. Raises ConfigError if it is heavier than `largest` [kg], or nowhere."""
        self.check_link(payload.link)
        if payload.mass > largest:
            raise ConfigError(
                f"payload of '{payload.link}': {payload.mass:g} kg, expected at most {largest:g}"
            )
        return payload

    # Inside.

    def _make_data(self) -> None:
        model = self._model
        self._data = mujoco.MjData(model)
        self._forces = np.zeros(model.nv)
        self._linear, self._angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))

    def _place(self, position: FloatArray) -> None:
        self._data.qpos[self._angles] = position
        mujoco.mj_kinematics(self._model, self._data)
        mujoco.mj_comPos(self._model, self._data)  # inverse dynamics and Jacobians need it

    def _bodies_above(self, body: int) -> list[int]:
        """Return `body` and the bodies that carry it, without the world."""
        found = []
        while body:
            found.append(body)
            body = int(self._model.body_parentid[body])
        return found

    def _moves(self, body: int) -> bool:
        return bool(self._model.body_jntnum[self._bodies_above(body)].any())
