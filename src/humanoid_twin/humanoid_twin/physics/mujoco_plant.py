"""The robot in MuJoCo: its model, made from the URDF at the start, and a Plant of all its joints.

MuJoCo reads kinematics, inertias, limits and collision shapes. Added are rotors, brakes and an
obstacle, which is inactive at first: a URDF has none of these.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Final
from xml.etree import ElementTree

import mujoco
import numpy as np

from humanoid_control_common.description.mujoco_input import (
    exclude_neighbours,
    in_one_line,
    mujoco_input,
)
from humanoid_control_common.errors import ConfigError
from humanoid_twin.physics.friction import DryFriction, JointFriction, equip
from humanoid_twin.physics.plant import TIME_STEP, FloatArray
from humanoid_twin.physics.springs import JointSpring, add_springs

OBSTACLE: Final = "twin obstacle"
BRAKE: Final = "twin brake of "
# A stop deflects by about a milliradian under the torque of a drive: mechanical stops are steel,
# and a calibration by hand relies on where they are. (time constant [s], damping ratio); MuJoCo
# needs at least two time steps. The stiffness of Prime's stops is unknown.
_HARD: Final = (2 * TIME_STEP, 1.0)
_FIRM: Final = (0.99, 0.999, 0.001, 0.5, 2.0)  # impedance of the constraint, MuJoCo's solimp

Frictions = Mapping[str, JointFriction]  # by joint; the other joints have none
Springs = Mapping[str, JointSpring]  # by joint; the other joints have none
_FRICTIONLESS: Final[Frictions] = {}
_SPRINGLESS: Final[Springs] = {}

_log = logging.getLogger(__name__)


def build_model(
    urdf: str,
    rotors: Mapping[str, float],
    frictions: Frictions = _FRICTIONLESS,
    springs: Springs = _SPRINGLESS,
) -> mujoco.MjModel:
    """Return the model of `urdf` (XML text), whose moving joints must be exactly those of `rotors`.

    `rotors` gives the inertia of each joint's rotor, reflected to the joint [kg m²]. `frictions`
    and `springs` are of joints of `rotors`.

    Raises ConfigError: a URDF that MuJoCo can't read, or that has other joints; MeshError for a
    mesh that is missing or broken.
    """
    found = mujoco_input(urdf)
    for warning in found.warnings:
        _log.warning("%s", warning)
    try:
        spec = mujoco.MjSpec.from_string(found.urdf, assets=found.meshes)
    except ValueError as error:
        raise ConfigError(
            f"URDF of the virtual robot: MuJoCo says: {in_one_line(error)}"
        ) from error
    _check(spec, rotors)
    exclude_neighbours(spec)
    # Torques come from the drives, explicitly, as those compute them: MuJoCo's default, Euler.
    spec.option.timestep = TIME_STEP
    for name, rotor in rotors.items():
        _equip(spec, name, rotor)
    equip(spec, frictions)
    add_springs(spec, springs)
    _add_obstacle(spec)
    try:
        model = spec.compile()
    except ValueError as error:
        raise ConfigError(
            f"URDF of the virtual robot: MuJoCo says: {in_one_line(error)}"
        ) from error
    box = model.geom(OBSTACLE)
    box.contype = box.conaffinity = 0  # inactive until it is placed
    return model


def moving_links(urdf: str) -> dict[str, str]:
    """Return for each moving link the body that it is part of: itself, or its fixed parent's."""
    parents = {}
    for joint in ElementTree.fromstring(urdf).findall("joint"):
        child, parent = joint.find("child"), joint.find("parent")
        if child is not None and parent is not None:
            fixed = joint.get("type") == "fixed"
            name = child.get("link", "")
            parents[name] = parent.get("link", "") if fixed else name
    found = {}
    for link in parents:
        body = link
        while body in parents and parents[body] != body:
            body = parents[body]
        if body in parents:  # else it is fixed to the world
            found[link] = body
    return found


def _check(spec: mujoco.MjSpec, joints: Iterable[str]) -> None:
    found, driven = {joint.name for joint in spec.joints}, set(joints)
    wrong = [f"no drive is on joint '{name}', which moves" for name in sorted(found - driven)]
    wrong += [f"a drive is on '{name}', no joint that moves" for name in sorted(driven - found)]
    if wrong:
        raise ConfigError(f"URDF of the virtual robot: {'; '.join(wrong)}")


def _equip(spec: mujoco.MjSpec, name: str, rotor: float) -> None:
    joint = next(joint for joint in spec.joints if joint.name == name)
    joint.armature = rotor
    joint.solref_limit, joint.solimp_limit = _HARD, _FIRM
    brake = spec.add_equality(
        name=BRAKE + name,
        type=mujoco.mjtEq.mjEQ_JOINT,
        objtype=mujoco.mjtObj.mjOBJ_JOINT,
        name1=name,
        active=False,
    )
    brake.solref, brake.solimp = _HARD, _FIRM


def _add_obstacle(spec: mujoco.MjSpec) -> None:
    body = spec.worldbody.add_body(name=OBSTACLE, mocap=True)
    body.add_geom(
        name=OBSTACLE,
        type=mujoco.mjtGeom.mjGEOM_BOX,
        size=[0.1, 0.1, 0.1],  # a shape that could touch nothing would be discarded as visual
    )


class MujocoPlant:
    """See Plant. Joint k is the k-th of `rotors`; gravity, inertia and contacts couple them.

    `model` and `data` are MuJoCo's own.
    """

    def __init__(
        self,
        urdf: str,
        rotors: Mapping[str, float],
        frictions: Frictions = _FRICTIONLESS,
        springs: Springs = _SPRINGLESS,
    ) -> None:
        """Start with all joints at rest, at 0 or at the nearest limit. See build_model."""
        self.model = build_model(urdf, rotors, frictions, springs)
        self.data = mujoco.MjData(self.model)
        self._friction = DryFriction(self.model, self.data, frictions) if frictions else None
        found = [self.model.joint(name) for name in rotors]
        # Other integers than numpy's own for indices would be converted at each use.
        self._angles = np.array([joint.qposadr[0] for joint in found], dtype=np.intp)
        self._speeds = np.array([joint.dofadr[0] for joint in found], dtype=np.intp)
        self._brakes = [self.model.equality(BRAKE + name).id for name in rotors]
        self.position: FloatArray = np.zeros(len(rotors))
        self.velocity: FloatArray = np.zeros(len(rotors))
        self.torque: FloatArray = np.zeros(len(rotors))
        self._external = np.zeros(len(rotors))
        self._pushed = False  # from outside
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

    def set_external_torque(self, joint: int, torque: float) -> None:
        """See Plant."""
        self._external[joint] = torque
        self._pushed = bool(self._external.any())

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
        loads = self.torque + self._external if self._pushed else self.torque
        self._applied[self._speeds] = loads
        if self._friction is not None:
            self._friction.update()
        mujoco.mj_step(self.model, self.data)
        self._measure()

    def _measure(self) -> None:
        # The indices are MuJoCo's own; without mode="clip" numpy would copy `out` to be safe.
        self._qpos.take(self._angles, out=self.position, mode="clip")
        self._qvel.take(self._speeds, out=self.velocity, mode="clip")


def _log_warning(message: str) -> None:
    _log.error("MuJoCo: %s", message)
