"""Conversions between encoder counts and radians, for the wire; everything else is SI."""

import math
from dataclasses import dataclass

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray


@dataclass(frozen=True, slots=True)
class Encoder:
    """A rotary encoder seen at the joint output.

    Args:
        counts_per_revolution: > 0, as the device's documents count them.
    """

    counts_per_revolution: int

    def __post_init__(self) -> None:
        if self.counts_per_revolution <= 0:
            raise ConfigError(
                f"counts_per_revolution is {self.counts_per_revolution}, expected a positive number"
            )

    @property
    def counts_per_radian(self) -> float:
        """Counts per radian of output rotation; the same factor serves counts/s and rad/s."""
        return self.counts_per_revolution / (2.0 * math.pi)

    def to_radians(self, counts: FloatArray | float) -> FloatArray | float:
        """Convert counts (or counts/s) to rad (or rad/s)."""
        return counts / self.counts_per_radian

    def to_counts(self, radians: FloatArray | float) -> FloatArray | float:
        """Convert rad (or rad/s) to counts (or counts/s), without rounding: the codec rounds."""
        return radians * self.counts_per_radian
