"""Joint calibration: direction and homing offset between raw encoder angle and joint frame.

    joint = direction * (raw - homing_offset)        raw = direction * joint + homing_offset

Velocity and effort take the direction only. Applied once, at the bus boundary.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, tau
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, RootModel, field_validator

from humanoid_control_common.configuration.config import Document, StrictModel, read_yaml, validate
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray

MOST_OUTSIDE: Final = 0.5  # [rad] that a joint may be found beyond its limits
# The same as a share of the angle outside them, where that is less.
SHARE_OUTSIDE: Final = 0.25
# For a joint that is found farther outside.
LOCATE: Final = (
    "turn the joint by hand to the middle of its range; or give it direction 1 and homing_offset 0 "
    "in the calibration file, and calibrate it again"
)


class JointCalibrationEntry(StrictModel):
    """One joint of prime_calibration.yaml."""

    id: int = Field(ge=0)  # ring position or CAN id
    direction: int  # +1 or -1
    homing_offset: float  # [rad], raw frame

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

    @property
    def known(self) -> NDArray[np.bool_]:
        """Return which joints are calibrated: others have direction 1 and offset 0."""
        return np.asarray((self.direction != 1.0) | (self.homing_offset != 0.0))

    def position_to_joint(self, raw: FloatArray) -> FloatArray:
        """Convert raw angles [rad] to joint positions [rad]."""
        return self.direction * (raw - self.homing_offset)

    def position_to_raw(self, joint: FloatArray) -> FloatArray:
        """Convert joint positions [rad] to raw angles [rad]."""
        return self.direction * joint + self.homing_offset

    def rate_to_joint(self, raw: FloatArray) -> FloatArray:
        """Convert raw velocities or efforts to the joint frame, or back: it is its own inverse."""
        return self.direction * raw


def turns_into_range(angle: float, lower: float, upper: float) -> int | None:
    """Return the whole turns that bring `angle` [rad] into the joint's range; None if unclear.

    Exactly one number of turns must lead into the range, or one near it and all others far. In a
    range of a turn or more that is never so: it must be there, or near it, as it is.
    """
    if upper - lower >= tau:
        return 0 if lower - MOST_OUTSIDE <= angle <= upper + MOST_OUTSIDE else None
    inside = range(ceil((lower - angle) / tau), floor((upper - angle) / tau) + 1)
    if inside:
        return inside[0]
    near = min(MOST_OUTSIDE, SHARE_OUTSIDE * (tau - (upper - lower)))
    below, above = floor((lower - angle) / tau), ceil((upper - angle) / tau)
    if angle + tau * above - upper <= near:
        return above
    return below if lower - angle - tau * below <= near else None


def load_calibration(
    path: Path, joints: Sequence[str], ids: Sequence[int] | None = None
) -> Calibration:
    """Return the calibration of `joints` from a YAML file, which may contain more joints.

    `ids`: ring position or CAN id of each joint; not checked if None.

    Raises ConfigError naming file and key if the file is malformed, a joint is missing, or was
    measured on another id.
    """
    document = read_yaml(path)
    entries = validate(CalibrationFile, document).root
    _require(joints, entries, path)
    if ids is not None:
        _agree(document, entries, dict(zip(joints, ids, strict=True)))
    return Calibration(
        direction=np.array([float(entries[name].direction) for name in joints]),
        homing_offset=np.array([entries[name].homing_offset for name in joints]),
    )


def load_complete_calibration(
    path: Path, ids: Mapping[str, int | None]
) -> dict[str, JointCalibrationEntry]:
    """Return the entries of a file that calibrates exactly the joints of the robot.

    `ids`: ring position or CAN id of every joint of the robot; None: on no bus.

    Raises ConfigError naming file, key and remedy.
    """
    document = read_yaml(path)
    entries = validate(CalibrationFile, document).root
    for name in entries:
        if name not in ids:
            raise ConfigError(
                f"{document.where((name,))}: unknown joint '{name}'; the robot has: "
                f"{', '.join(ids)}. Correct the name, or remove the line"
            )
    _require(list(ids), entries, path)
    _agree(document, entries, {name: number for name, number in ids.items() if number is not None})
    return entries


def are_calibrated(path: Path) -> dict[str, bool]:
    """Return of each joint in a file whether it is calibrated: others are as in a placeholder.

    Raises ConfigError.
    """
    entries = validate(CalibrationFile, read_yaml(path)).root
    return {
        name: entry.direction != 1 or entry.homing_offset != 0.0 for name, entry in entries.items()
    }


def _require(
    joints: Sequence[str], entries: Mapping[str, JointCalibrationEntry], path: Path
) -> None:
    missing = [name for name in joints if name not in entries]
    if missing:
        raise ConfigError(
            f"{path}: no calibration for {', '.join(missing)}: the file needs a line for every "
            "joint; take the missing ones from a backup, and calibrate them (`hc calibrate`)"
        )


def _agree(
    document: Document, entries: Mapping[str, JointCalibrationEntry], ids: Mapping[str, int]
) -> None:
    for name, number in ids.items():
        if entries[name].id != number:
            raise ConfigError(
                f"{document.where((name, 'id'))}: {name} was calibrated on id {entries[name].id}, "
                f"but the hardware file has it on id {number}: calibrate the joint again if its "
                "drive has changed, else correct the id"
            )
