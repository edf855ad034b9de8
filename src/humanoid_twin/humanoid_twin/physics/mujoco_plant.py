"""A Plant of all the robot's joints in one MuJoCo model."""

import logging
from collections.abc import Mapping

import mujoco
import numpy as np

from humanoid_twin.physics.model import BRAKE, build_model
from humanoid_twin.physics.plant import TIME_STEP, FloatArray

_log = logging.getLogger(__name__)


class MujocoPlant:
    """See Plant. Joint k is the k-th of `rotors`; gravity, inertia and contacts couple them.

    `model` and `data` are MuJoCo's own.
    """

    def __init__(self, urdf: str, rotors: Mapping[str, float]) -> None:
        """Start with all joints at rest, at 0 or at the nearest limit. See build_model."""
        self.model = build_model(urdf, rotors)
        self.data = mujoco.MjData(self.model)
        found = [self.model.joint(name) for name in rotors]
        self._angles = np.array([joint.qposadr[0] for joint in found])
        self._speeds = np.array([joint.dofadr[0] for joint in found])
        self._brakes = [self.model.equality(BRAKE + name).id for name in rotors]
        self.position: FloatArray = np.zeros(len(rotors))
        self.velocity: FloatArray = np.zeros(len(rotors))
        self.torque: FloatArray = np.zeros(len(rotors))
        self._external = np.zeros(len(rotors))
        self._loads = np.empty(len(rotors))
        self._qpos, self._qvel = self.data.qpos, self.data.qvel
        self._applied = self.data.qfrc_applied
        self._start()

    def _start(self) -> None:
        limits = self.model.jnt_range[self.model.jnt_limited.astype(bool)]
        if len(limits) == len(self._qpos):
            self._qpos[:] = np.clip(0.0, limits[:, 0], limits[:, 1])
        mujoco.mj_forward(self.model, self.data)
        self._measure()
        if mujoco.get_mju_user_warning() is None:  # else MuJoCo writes a file where it is run
            mujoco.set_mju_user_warning(_log_warning)

    def set_torque(self, joint: int, torque: float) -> None:
        """See Plant."""
        self.torque[joint] = torque

    def set_external_torque(self, joint: int, torque: float) -> None:
        """See Plant."""
        self._external[joint] = torque

    def set_brake(self, joint: int, *, engaged: bool) -> None:
        """See Plant."""
        number = self._brakes[joint]
        self.model.eq_data[number, 0] = self.position[joint]
        self.data.eq_active[number] = engaged

    def set_state(self, joint: int, position: float, velocity: float) -> None:
        """See Plant."""
        self._qpos[self._angles[joint]] = self.position[joint] = position
        self._qvel[self._speeds[joint]] = self.velocity[joint] = velocity

    def step(self, dt: float) -> None:
        """See Plant; `dt` is always the time step of the model."""
        if dt != TIME_STEP:
            raise ValueError(f"plant stepped by {dt} s, its time step is {TIME_STEP} s")
        np.add(self.torque, self._external, out=self._loads)
        self._applied[self._speeds] = self._loads
        mujoco.mj_step(self.model, self.data)
        self._measure()

    def _measure(self) -> None:
        # The indices are MuJoCo's own; without mode="clip" numpy would copy `out` to be safe.
        self._qpos.take(self._angles, out=self.position, mode="clip")
        self._qvel.take(self._speeds, out=self.velocity, mode="clip")


def _log_warning(message: str) -> None:
    _log.error("MuJoCo: %s", message)
