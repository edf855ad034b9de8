"""The impedance manager's parameters, its drives, and the registers that each mode requires."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware.mode_gains import LEAST_EFFICIENCY
from humanoid_devices_erob.drive.gains import (
    IntArray,
    JointRegisters,
    Registers,
    gains_to_registers,
    registers_to_gains,
)

Gain = Annotated[float, Field(ge=0.0)]
Positive = Annotated[float, Field(gt=0.0)]
PerMode = Annotated[list[Gain], Field(min_length=len(Mode), max_length=len(Mode))]


class ImpedanceParameters(StrictModel):
    """Parameters of the node; the bring-up sets the first block from the hardware file."""

    joint_names: list[str] = Field(min_length=1, description="Joints of the drives.")
    ring_positions: list[Annotated[int, Field(ge=0, le=65535)]] = Field(
        description="Position of each drive on the ring."
    )
    kt: list[Positive] = Field(description="Torque constant at each motor [Nm/mA].")
    gear: list[Positive] = Field(description="Motor turns per output turn of each drive.")
    update_rate: int = Field(gt=0, description="Rate of the joint states [Hz].")

    mode_kp: PerMode = Field(description="Stiffness by mode number [Nm/rad].")
    mode_kd: PerMode = Field(description="Damping by mode number [Nm*s/rad].")
    torque_efficiency: float = Field(
        default=1.0,
        ge=LEAST_EFFICIENCY,
        le=1.0,
        description="Realized / nominal torque of the transmission; 1 compensates nothing.",
    )
    parallel_sdo: bool = Field(
        default=True,
        description="All drives at once, or one after another in the order of the joints.",
    )
    hardware_config: str = Field(
        default="",
        description="Without joint_names: the hardware file with the drives; empty: the robot's.",
    )
    follow_requests: bool = Field(
        default=False, description="Take requests as statements: alone on a bench."
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        count = len(self.joint_names)
        for name in ("ring_positions", "kt", "gear"):
            if len(getattr(self, name)) != count:
                found = len(getattr(self, name))
                raise ValueError(f"{name} has {found} values for {count} joint_names")
        for name in ("joint_names", "ring_positions"):
            if len(set(getattr(self, name))) != count:
                raise ValueError(f"{name} names one twice: {getattr(self, name)}")
        for mode in Mode:
            if self.mode_kp[mode] > 0.0 and self.mode_kd[mode] == 0.0:
                raise ValueError(
                    f"{mode.name} has stiffness {self.mode_kp[mode]:g} without damping: an eRob "
                    "has none then (its position gain is proportional to kp / kd)"
                )
        return self

    @model_validator(mode="after")
    def _soft(self) -> Self:
        # Every fall leads to these modes; any controller may implement them.
        for mode, is_damped in ((Mode.ZERO_TORQUE, False), (Mode.DAMPING, True)):
            if self.mode_kp[mode] > 0.0 or (self.mode_kd[mode] > 0.0) is not is_damped:
                raise ValueError(
                    f"mode_kp and mode_kd of {mode.name} (value {mode.value}) are "
                    f"{self.mode_kp[mode]:g} and {self.mode_kd[mode]:g}, expected 0 and "
                    f"{'more than 0' if is_damped else '0'}: joints are soft in this mode"
                )
        return self


ModeTable = dict[Mode, tuple[JointRegisters, ...]]


@dataclass(frozen=True, slots=True)
class Drives:
    """The eRob drives; arrays have one entry per drive, shape (n,)."""

    joint_names: tuple[str, ...]
    ring_positions: tuple[int, ...]
    torque_constant: FloatArray  # [Nm/mA] at the motor
    gear: FloatArray  # motor turns per output turn
    torque_efficiency: float  # realized / nominal, compensated

    @classmethod
    def of(cls, parameters: ImpedanceParameters) -> Self:
        """Return the drives that `parameters` describe."""
        return cls(
            tuple(parameters.joint_names),
            tuple(parameters.ring_positions),
            np.array(parameters.kt),
            np.array(parameters.gear),
            parameters.torque_efficiency,
        )

    def registers(self, stiffness: float, damping: float) -> tuple[JointRegisters, ...]:
        """Return each drive's registers for a stiffness [Nm/rad] and damping [Nm s/rad].

        Raises ConfigError for gains that a drive can't realize.
        """
        registers = gains_to_registers(
            stiffness,
            np.full(len(self.joint_names), damping),
            torque_constant=self.torque_constant,
            gear=self.gear,
            torque_efficiency=self.torque_efficiency,
        )
        if damping > 0.0 and not registers.velocity_gain.all():
            raise ConfigError(
                f"damping {damping:g} Nm*s/rad is less than the smallest step of "
                f"{self._without(registers.velocity_gain)}, which would be limp"
            )
        if stiffness > 0.0 and damping > 0.0 and not registers.position_gain.all():
            raise ConfigError(
                f"stiffness {stiffness:g} Nm/rad at damping {damping:g} Nm*s/rad is less than the "
                f"smallest step of {self._without(registers.position_gain)}, which would have none"
            )
        return tuple(registers.of(joint) for joint in range(len(self.joint_names)))

    def _without(self, gain: IntArray) -> str:
        """Return the joints whose `gain` is 0, and where the steps of their drives come from."""
        names = [name for name, it in zip(self.joint_names, gain.tolist(), strict=True) if not it]
        return f"{', '.join(names)} by kt and gear in the hardware file"

    def realized(self, rows: Sequence[tuple[int, int, int]]) -> tuple[FloatArray, FloatArray]:
        """Return the stiffness [Nm/rad] and damping [Nm s/rad] of (position, velocity, integral).

        NaN where a gain is unknown (-1).
        """
        position, velocity, integral = np.array(rows, dtype=np.int64).T
        stiffness, damping = registers_to_gains(
            Registers(position, velocity, integral),
            torque_constant=self.torque_constant,
            gear=self.gear,
            torque_efficiency=self.torque_efficiency,
        )
        unknown = (position < 0) | (velocity < 0)
        return np.where(unknown, np.nan, stiffness), np.where(unknown, np.nan, damping)


def mode_table(drives: Drives, parameters: ImpedanceParameters) -> ModeTable:
    """Return the registers of every mode. Raises ConfigError naming the mode."""
    table = {}
    for mode in Mode:
        try:
            table[mode] = drives.registers(parameters.mode_kp[mode], parameters.mode_kd[mode])
        except ConfigError as error:
            raise ConfigError(f"gains of {mode.name}: {error}") from error
    return table
