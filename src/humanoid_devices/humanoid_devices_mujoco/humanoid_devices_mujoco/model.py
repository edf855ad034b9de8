"""Build the MuJoCo model from the robot description at run time, so there is no second copy.

MuJoCo reads the URDF (kinematics, inertias, limits, collision shapes, friction, `<mujoco>`). This
module adds what a URDF cannot express: the rotor of each joint, and the actuator that applies the
MIT law.
"""

import logging

import mujoco

from humanoid_control_common.description.mujoco_input import (
    exclude_neighbours,
    in_one_line,
    mujoco_input,
)
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_mujoco.settings import Settings

logger = logging.getLogger(__name__)

# Columns of actuator_biasprm in MuJoCo's affine bias: constant, position, velocity.
BIAS_POSITION = 1
BIAS_VELOCITY = 2
_OVERLAP = 0.001  # [m]; less is the give of a contact


def build_model(info: HardwareInfo, settings: Settings) -> mujoco.MjModel:
    """Return the model of the robot in `info.urdf`; actuator i drives joint i of the block.

    The order of the joints in the model is MuJoCo's own: map with `jnt_qposadr` and `jnt_dofadr`.

    Raises ConfigError with block and joint, or with MuJoCo's message: a URDF that MuJoCo can't
    read; a moving joint that is not in the block; or see `mujoco_input`.
    """
    where = info.place
    found = mujoco_input(info.urdf)
    for warning in found.warnings:
        logger.warning("%s", warning)
    try:
        spec = mujoco.MjSpec.from_string(found.urdf, assets=found.meshes)
    except ValueError as error:
        raise ConfigError(f"{where}: MuJoCo cannot read the URDF: {in_one_line(error)}") from error
    _check_joints(spec, info, where)
    exclude_neighbours(spec)
    _set_options(spec, settings)
    _add_actuators(spec, info, settings)
    try:
        return spec.compile()
    except ValueError as error:
        raise ConfigError(f"{where}: MuJoCo refuses the URDF: {in_one_line(error)}") from error


def _check_joints(spec: mujoco.MjSpec, info: HardwareInfo, where: str) -> None:
    block = set(info.joint_set.names)
    for body in spec.bodies:
        for joint in body.joints:
            if joint.name not in block:
                raise ConfigError(
                    f"{where}: joint '{joint.name}' moves but is not in the block, "
                    "nothing would hold it; the block has: " + ", ".join(info.joint_set.names)
                )


def _set_options(spec: mujoco.MjSpec, settings: Settings) -> None:
    # The integrator is Euler, MuJoCo's default, unless the description names another. It applies
    # the MIT law as a motor's firmware does: explicitly, from the state at the start of the step.
    # Implicit ones solve for the damping, which hides gains that are unstable on a real motor.
    spec.option.timestep = settings.timestep


def _add_actuators(spec: mujoco.MjSpec, info: HardwareInfo, settings: Settings) -> None:
    """Add an affine actuator per joint: effort = ctrl + bias[1] position + bias[2] velocity.

    With ctrl = kp position_cmd + kd velocity_cmd + effort_cmd and bias = (0, -kp, -kd) this is the
    MIT law, limited and evaluated at every physics step. The gains are set in the compiled model.
    """
    joints = {joint.name: joint for joint in spec.joints}
    for name, inertia, limit in zip(
        info.joint_set.names, settings.rotor_inertia, info.limits.effort, strict=True
    ):
        joints[name].armature = inertia
        actuator = spec.add_actuator(name=name, target=name)
        actuator.trntype = mujoco.mjtTrn.mjTRN_JOINT
        actuator.gaintype = mujoco.mjtGain.mjGAIN_FIXED
        actuator.gainprm[0] = 1.0
        actuator.biastype = mujoco.mjtBias.mjBIAS_AFFINE
        actuator.forcelimited = mujoco.mjtLimited.mjLIMITED_TRUE
        actuator.forcerange = [-limit, limit]


def overlaps(model: mujoco.MjModel, data: mujoco.MjData) -> list[str]:
    """Return a sentence for each two links whose shapes overlap at the pose of `data`.

    mj_forward must have been called.
    """
    depths: dict[tuple[str, str], float] = {}  # [m]
    for contact in data.contact:
        bodies = (model.geom_bodyid[geom] for geom in (contact.geom1, contact.geom2))
        # MuJoCo calls all fixed links "world".
        one, other = (f"'{model.body(it).name}'" if it else "of the base" for it in bodies)
        depths[one, other] = max(depths.get((one, other), 0.0), -contact.dist)
    return [
        f"links {one} and {other} overlap by {1000 * depth:.0f} mm at the start and push each "
        "other apart: give them smaller <collision> shapes"
        for (one, other), depth in depths.items()
        if depth > _OVERLAP
    ]
