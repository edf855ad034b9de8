"""Frames that get lost or come late: fault injection on the cable."""

from dataclasses import dataclass
from enum import Enum
from random import Random


class Fate(Enum):
    """What becomes of a frame."""

    ANSWERED = "answered"
    LOST_ON_THE_WAY = "lost before the slaves"
    LOST_ON_THE_WAY_BACK = "lost after the slaves"
    LATE = "late"


@dataclass(slots=True)
class Losses:
    """Decides about each frame. Half of the frames lost at random reach the slaves.

    A frame damaged on a real cable fails its checksum and is lost as well.
    """

    random: Random
    probability: float = 0.0
    lost_next: int = 0  # frames that will be lost before the slaves
    late_next: int = 0  # frames whose answers will be late
    lateness: float = 0.0  # [s]
    lost: int = 0  # so far

    def fate(self) -> Fate:
        """Of the frame that has just come."""
        if self.lost_next:
            self.lost_next -= 1
            self.lost += 1
            return Fate.LOST_ON_THE_WAY
        if self.probability and self.random.random() < self.probability:
            self.lost += 1
            return self.random.choice((Fate.LOST_ON_THE_WAY, Fate.LOST_ON_THE_WAY_BACK))
        if self.late_next:
            self.late_next -= 1
            return Fate.LATE
        return Fate.ANSWERED
