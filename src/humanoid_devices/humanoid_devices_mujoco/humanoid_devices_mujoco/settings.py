"""Settings of a MujocoSystem's <ros2_control> block: pace, time step, rotors."""

from dataclasses import dataclass

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_controller_manager.hardware.block_parameters import complete, not_negative, positive
from humanoid_controller_manager.hardware.mode_gains import MODE_GAINS
from humanoid_controller_manager.hardware_component import HardwareInfo

BLOCK_PARAMETERS = ("timestep", "real_time_factor")
JOINT_PARAMETERS = ("rotor_inertia",)
MODE_PARAMETERS = dict.fromkeys(MODE_GAINS, "")  # see SimulatedServos
# Relative tolerance for a control period as a whole number of time steps: covers the rounding of
# decimal numbers (1/200 and 0.001) only.
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Settings:
    """Parameters of the block. None has a default: the robot description gives the figures."""

    timestep: float  # [s] of the physics
    steps_per_period: int  # physics steps in one period of the control loop
    real_time_factor: float  # simulated seconds per wall second; 0: as fast as possible
    rotor_inertia: FloatArray  # [kg m^2] about the joint axis, behind the gear, shape (n_joints,)


def parse_settings(info: HardwareInfo) -> Settings:
    """Return the settings of block `info`.

    Raises ConfigError, naming block and joint: a parameter missing, unknown or out of range, a
    control period that is no multiple of the time step.
    """
    where = info.place
    parameters = complete(info.parameters, BLOCK_PARAMETERS, MODE_PARAMETERS, where)
    timestep = positive(parameters, "timestep", where)
    return Settings(
        timestep=timestep,
        steps_per_period=_steps_per_period(timestep, info.update_rate, where),
        real_time_factor=not_negative(parameters, "real_time_factor", where),
        rotor_inertia=_rotor_inertia(info, where),
    )


def _steps_per_period(timestep: float, update_rate: float, where: str) -> int:
    steps = 1.0 / (update_rate * timestep)
    whole = round(steps)
    if whole < 1 or abs(steps - whole) > ROUNDING * steps:
        raise ConfigError(
            f"{where}: a period of the control loop (update_rate {update_rate:g} Hz: "
            f"{1.0 / update_rate:.9g} s) is {steps:.6g} times timestep {timestep:g} s; "
            "expected a whole number of times"
        )
    return whole


def _rotor_inertia(info: HardwareInfo, where: str) -> FloatArray:
    inertias = []
    for joint in info.joints:
        place = f"{where}: joint '{joint.name}'"
        parameters = complete(joint.parameters, JOINT_PARAMETERS, MODE_PARAMETERS, place)
        inertias.append(not_negative(parameters, "rotor_inertia", place))
    return np.array(inertias)
