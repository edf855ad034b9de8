"""Faults of frames: lost, late or damaged ones, and wrong working counters."""

from dataclasses import dataclass, field
from enum import Enum
from random import Random
from typing import Final

from humanoid_devices_erob.protocol.frame import (
    DATAGRAM_HEADER,
    HEADER_BYTES,
    LENGTH_MASK,
    MORE_FOLLOWS,
    WORKING_COUNTER,
    Command,
)

_LOGICAL: Final = (Command.LRD, Command.LWR, Command.LRW)


def miscount(frame: memoryview) -> None:
    """Subtract 1 from the working counters of process data in an answer."""
    position, flags = HEADER_BYTES, MORE_FOLLOWS
    while flags & MORE_FOLLOWS and position + DATAGRAM_HEADER.size <= len(frame):
        command, _, _, flags, _ = DATAGRAM_HEADER.unpack_from(frame, position)
        counter = position + DATAGRAM_HEADER.size + (flags & LENGTH_MASK)
        if counter + WORKING_COUNTER.size > len(frame):
            return
        if command in _LOGICAL:
            found = WORKING_COUNTER.unpack_from(frame, counter)[0]
            WORKING_COUNTER.pack_into(frame, counter, max(found - 1, 0))
        position = counter + WORKING_COUNTER.size


class FrameOutcome(Enum):
    """Outcome of a frame."""

    ANSWERED = "answered"
    LOST_ON_THE_WAY = "lost before the slaves"
    LOST_ON_THE_WAY_BACK = "lost after the slaves"
    LATE = "late"
    DAMAGED = "damaged between two slaves"
    DOUBLED = "answered twice"
    OVERTAKEN = "answered after the next one"
    MISCOUNTED = "one slave too few has counted it"


@dataclass(slots=True)
class FrameFaults:
    """Decides the outcome of each frame. Half of the frames lost at random reach the slaves.

    A frame damaged on a real cable fails its checksum: the slaves behind the place ignore it, and
    so does the master.
    """

    random: Random
    probability: float = 0.0
    lost_next: int = 0  # frames to lose before the slaves
    late_next: int = 0  # frames to answer late
    lateness: float = 0.0  # [s]
    lost: int = 0  # so far
    # Probabilities of the later outcomes.
    others: dict[FrameOutcome, float] = field(default_factory=dict)

    def outcome(self) -> FrameOutcome:
        """Return the outcome of the next frame."""
        if self.lost_next:
            self.lost_next -= 1
            self.lost += 1
            return FrameOutcome.LOST_ON_THE_WAY
        if self.probability and self.random.random() < self.probability:
            self.lost += 1
            return self.random.choice(
                (FrameOutcome.LOST_ON_THE_WAY, FrameOutcome.LOST_ON_THE_WAY_BACK)
            )
        if self.late_next:
            self.late_next -= 1
            return FrameOutcome.LATE
        for outcome, probability in self.others.items():
            if self.random.random() < probability:
                self.lost += outcome is FrameOutcome.DAMAGED
                return outcome
        return FrameOutcome.ANSWERED
