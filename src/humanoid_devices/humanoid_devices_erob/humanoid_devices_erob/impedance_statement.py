"""What the impedance manager says about the drives' loop gains."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_control_common.joints import FloatArray
from humanoid_devices_erob.gains import Registers


@dataclass(frozen=True, slots=True)
class ImpedanceStatement:
    """One humanoid_control_msgs/ImpedanceState. Arrays have one entry per name, shape (n,)."""

    arrived: float  # [s] on the system's clock
    gate_open: bool  # measurements are flowing: SDO writes are allowed
    armed: bool  # every drive uses its bus-written gains
    confirmed: bool  # all registers read back as mode and number ask
    mode: int
    number: int
    joint_names: tuple[str, ...]
    registers: Registers
    stiffness: FloatArray  # [Nm/rad] that the registers realize
    damping: FloatArray  # [Nm s/rad]
    status_message: str = ""
