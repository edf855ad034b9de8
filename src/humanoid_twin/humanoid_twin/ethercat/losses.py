"""Frames that get lost, late, doubled or damaged: fault injection on the cable."""

from dataclasses import dataclass, field
from enum import Enum
from random import Random


class Fate(Enum):
    """What becomes of a frame."""

    ANSWERED = "answered"
    LOST_ON_THE_WAY = "lost before the slaves"
    LOST_ON_THE_WAY_BACK = "lost after the slaves"
    LATE = "late"
    DAMAGED = "damaged between two slaves"
    DOUBLED = "answered twice"
    OVERTAKEN = "answered after the next one"
    MISCOUNTED = "one slave too few has counted it"


@dataclass(slots=True)
class Losses:
    """Decides about each frame. Half of the frames lost at random reach the slaves.

    A frame damaged on a real cable fails its checksum: the slaves behind the place ignore it, and
    so does the master.
    """

    random: Random
    probability: float = 0.0
    lost_next: int = 0  # frames that will be lost before the slaves
    late_next: int = 0  # frames whose answers will be late
    lateness: float = 0.0  # [s]
    lost: int = 0  # so far
    others: dict[Fate, float] = field(default_factory=dict)  # probabilities of the later fates

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
        for fate, probability in self.others.items():
            if self.random.random() < probability:
                self.lost += fate is Fate.DAMAGED
                return fate
        return Fate.ANSWERED
