"""Joint calibration: direction and homing offset between raw encoder angle and joint frame.

    joint = direction * (raw - homing_offset)        raw = direction * joint + homing_offset

Velocity and effort take the direction only. Applied once, at the bus boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pydantic import Field, RootModel, field_validator

from humanoid_control_common.config import StrictModel, load_yaml
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.joints import FloatArray


class JointCalibrationEntry(StrictModel):
    """One joint of prime_calibration.yaml."""

    id: int = Field(ge=0)  # ring position or CAN id
    direction: int  # +1 or -1
    homing_offset: float = Field(allow_inf_nan=False)  # [rad], raw frame

    @field_validator("direction")
    @classmethod
    def _sign(cls, value: int) -> int:
        if value not in (-1, 1):
            raise ValueError("expected 1 or -1")
        return value


class CalibrationFile(RootModel[dict[str, JointCalibrationEntry]]):
    """prime_calibration.yaml: joint name to entry."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration of n joints; arrays have shape (n,)."""

    direction: FloatArray  # +1 or -1
    homing_offset: FloatArray  # [rad], raw frame

    def position_to_joint(self, raw: FloatArray) -> FloatArray:
        """Raw angles [rad] to joint positions [rad]."""
        return self.direction * (raw - self.homing_offset)

    def position_to_raw(self, joint: FloatArray) -> FloatArray:
        """Joint positions [rad] to raw angles [rad]."""
        return self.direction * joint + self.homing_offset

    def rate_to_joint(self, raw: FloatArray) -> FloatArray:
        """Raw velocities or efforts to the joint frame; the same map leads back."""
        return self.direction * raw


def load_calibration(path: Path, joints: Sequence[str]) -> Calibration:
    """Calibration of `joints` from a YAML file.

    Raises ConfigError naming file and key if the file is malformed or a joint is missing.
    """
    entries = load_yaml(path, CalibrationFile).root
    missing = [name for name in joints if name not in entries]
    if missing:
        raise ConfigError(f"{path}: no calibration for {', '.join(missing)}")
    return Calibration(
        direction=np.array([float(entries[name].direction) for name in joints]),
        homing_offset=np.array([entries[name].homing_offset for name in joints]),
    )
