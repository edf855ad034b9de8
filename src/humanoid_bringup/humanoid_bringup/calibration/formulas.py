"""The formulas of the calibration. Angles in [rad]; raw = direction · joint + homing_offset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from humanoid_control_common.errors import ConfigError

# [rad] of a sweep; a shorter one was no sweep to both stops, and the prior values are kept.
SMALLEST_SWEEP: Final = 0.5


@dataclass(frozen=True, slots=True)
class Interval:
    """A closed range of angles. Raises ConfigError if it is upside down."""

    low: float  # [rad]
    high: float  # [rad]

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ConfigError(f"range of angles from {self.low:g} to {self.high:g} rad")

    @property
    def width(self) -> float:
        """[rad]."""
        return self.high - self.low

    def directed(self, direction: int) -> Interval:
        """Return `direction` times every angle of it."""
        return self if direction > 0 else Interval(-self.high, -self.low)

    def overlaps(self, other: Interval) -> bool:
        """Return True if the intervals have an angle in common."""
        return self.low <= other.high and other.low <= self.high

    def __str__(self) -> str:
        """Return it as messages show it."""
        return f"{self.low:+.2f} … {self.high:+.2f} rad"


@dataclass(frozen=True, slots=True)
class JointCalibration:
    """Calibration of one joint."""

    direction: int  # 1 or -1
    homing_offset: float  # [rad] raw angle at joint angle 0


def swept(raw: Interval, limits: Interval, direction: int) -> JointCalibration:
    """Compute the calibration from the raw angles at both stops, taken for the URDF's limits.

    The offset is the mean of those by the lower and by the upper stop. So the error of one stop,
    soft or not at the URDF's limit, counts half.
    """
    found = raw.directed(direction)
    offset = 0.5 * ((found.low - limits.low) + (found.high - limits.high)) * direction
    return JointCalibration(direction, offset)


def flipped(calibration: JointCalibration, limits: Interval) -> JointCalibration:
    """Return the calibration with the other direction for the same sweep: the stops stay."""
    shift = calibration.direction * (limits.low + limits.high)
    return JointCalibration(-calibration.direction, calibration.homing_offset + shift)
