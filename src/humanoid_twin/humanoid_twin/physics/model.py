"""The MuJoCo model of the virtual robot, made from its URDF at the start.

MuJoCo reads kinematics, inertias, limits and collision shapes. Added are rotors, brakes and an
obstacle, which is inactive at first: a URDF has none of these.
"""

from collections.abc import Iterable, Mapping
from typing import Final
from xml.etree import ElementTree

import mujoco

from humanoid_control_common.errors import ConfigError
from humanoid_twin.physics.plant import TIME_STEP

OBSTACLE: Final = "twin obstacle"
BRAKE: Final = "twin brake of "
# A stop gives way by a milliradian or so under the torque of a drive: mechanical stops are steel,
# and a calibration by hand relies on where they are. (time constant [s], damping ratio); MuJoCo
# wants at least two time steps. The stiffness of Prime's stops isn't known.
_HARD: Final = (2 * TIME_STEP, 1.0)
_FIRM: Final = (0.99, 0.999, 0.001, 0.5, 2.0)  # impedance of the constraint, MuJoCo's solimp


def build_model(urdf: str, rotors: Mapping[str, float]) -> mujoco.MjModel:
    """Return the model of `urdf` (XML text), whose moving joints must be exactly those of `rotors`.

    `rotors` gives the inertia of each joint's rotor, reflected to the joint [kg m²].

    Raises ConfigError: a URDF that MuJoCo can't read, or that has other joints.
    """
    try:
        spec = mujoco.MjSpec.from_string(urdf)
    except ValueError as error:
        raise ConfigError(f"URDF of the virtual robot: MuJoCo says: {_one_line(error)}") from error
    _check(spec, rotors)
    # A link without <inertial> is massless in URDF; MuJoCo would guess its mass from its shape.
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    spec.option.timestep = TIME_STEP
    # Torques come from the drives, explicitly, as those compute them.
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    for name, rotor in rotors.items():
        _equip(spec, name, rotor)
    _add_obstacle(spec)
    try:
        model = spec.compile()
    except ValueError as error:
        raise ConfigError(f"URDF of the virtual robot: MuJoCo says: {_one_line(error)}") from error
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
    found = {joint.name for joint in spec.joints}
    if differing := found ^ set(joints):
        raise ConfigError(
            "URDF of the virtual robot: the joints that move aren't its drives': "
            + ", ".join(sorted(differing))
        )


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


def _one_line(error: ValueError) -> str:
    return "; ".join(line for line in str(error).splitlines() if line.strip())
