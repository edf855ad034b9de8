"""The drives of the ring, and the registers that each mode asks of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_bringup_prime.impedance.parameters import ImpedanceParameters
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.joints import FloatArray
from humanoid_control_common.modes import Mode
from humanoid_devices_erob.gains import (
    JointRegisters,
    Registers,
    gains_to_registers,
    registers_to_gains,
)

ModeTable = dict[Mode, tuple[JointRegisters, ...]]


@dataclass(frozen=True, slots=True)
class Drives:
    """The eRob drives; arrays have one entry per drive, shape (n,)."""

    joint_names: tuple[str, ...]
    ring_positions: tuple[int, ...]
    torque_constant: FloatArray  # [Nm/mA] at the motor
    gear: FloatArray  # motor turns per output turn
    torque_efficiency: float  # realized / nominal, that is compensated

    @classmethod
    def of(cls, parameters: ImpedanceParameters) -> Drives:
        """The drives that `parameters` describe."""
        return cls(
            tuple(parameters.joint_names),
            tuple(parameters.ring_positions),
            np.array(parameters.kt),
            np.array(parameters.gear),
            parameters.torque_efficiency,
        )

    def registers(self, stiffness: float, damping: float) -> tuple[JointRegisters, ...]:
        """What each drive must hold for a stiffness [Nm/rad] and damping [Nm s/rad].

        Raises ConfigError for gains that a drive can't have.
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
                f"damping {damping:g} Nm*s/rad is less than the smallest step of a drive, "
                "which would be limp"
            )
        return tuple(registers.of(joint) for joint in range(len(self.joint_names)))

    def realized(self, rows: Sequence[tuple[int, int, int]]) -> tuple[FloatArray, FloatArray]:
        """Stiffness [Nm/rad] and damping [Nm s/rad] of position, velocity and integral gains.

        NaN where they are not known (-1).
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
    """The registers of every mode. Raises ConfigError naming the mode."""
    table = {}
    for mode in Mode:
        try:
            table[mode] = drives.registers(parameters.mode_kp[mode], parameters.mode_kd[mode])
        except ConfigError as error:
            raise ConfigError(f"gains of {mode.name}: {error}") from error
    return table
