"""The resolution of encoders, for the wire; everything else is SI."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Encoder:
    """A rotary encoder with the resolution at the joint output that its documents state."""

    counts_per_revolution: int

    @property
    def counts_per_radian(self) -> float:
        """Counts per radian of output rotation; the same factor serves counts/s and rad/s."""
        return self.counts_per_revolution / (2.0 * math.pi)
