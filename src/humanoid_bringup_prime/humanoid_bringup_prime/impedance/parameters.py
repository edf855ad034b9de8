"""Parameters of the node `erob_impedance_manager`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator

from humanoid_control_common.config import StrictModel
from humanoid_control_common.modes import Mode

Gain = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0.0, allow_inf_nan=False)]
PerMode = Annotated[list[Gain], Field(min_length=len(Mode), max_length=len(Mode))]


class ImpedanceParameters(StrictModel):
    """The first block is wired from prime_hardware.yaml by the bring-up, one entry per drive."""

    joint_names: list[str] = Field(min_length=1)
    ring_positions: list[Annotated[int, Field(ge=0, le=65535)]]
    kt: list[Positive]  # [Nm/mA] at the motor
    gear: list[Positive]  # motor turns per output turn
    update_rate: int = Field(gt=0)  # [Hz] of /prime/joint_states

    mode_kp: PerMode  # [Nm/rad] by mode number
    mode_kd: PerMode  # [Nm*s/rad]
    # Realized / nominal torque of the transmission: 1 compensates nothing.
    torque_efficiency: float = Field(default=1.0, gt=0.0, le=1.0)
    parallel_sdo: bool = True  # all drives at once, or one after another in ring order
    follow_requests: bool = False  # take requests as statements: alone on a bench

    @model_validator(mode="after")
    def _consistent(self) -> ImpedanceParameters:
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
