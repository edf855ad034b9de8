"""One attempt to send a frame: its senders, its outcome and its duration."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from humanoid_twin.can import bits
from humanoid_twin.can.controller import CanController, Cause
from humanoid_twin.can.frame import CanFrame

# Bits after which a node with another bit rate finds a stuff error; assumed.
_FOREIGN_FINDS: Final = 12  # [bits]


class Outcome(Enum):
    """Outcome of one attempt to send a frame."""

    SENT = "sent"
    NOT_ACKNOWLEDGED = "nobody acknowledged"
    COLLISION = "nodes with one identifier sent different data"
    FOREIGN = "a node with another bit rate destroyed it"
    CORRUPTED = "destroyed on the wire"


@dataclass(slots=True)  # not frozen: one is made for each frame
class Transmission:
    """One frame on the wire."""

    frame: CanFrame
    senders: Sequence[CanController]  # more than one only with the same content, or colliding
    outcome: Outcome
    start: int  # [ns]
    end: int  # [ns], without the intermission
    idle: int  # [ns] end of the intermission: a new frame may start


def dominant_frame(senders: Sequence[CanController]) -> tuple[CanFrame, Sequence[CanController]]:
    """Return the frame on the wire up to the first difference, and its senders.

    All senders have won arbitration with the same identifier; at the first difference a dominant
    bit overrules recessive ones.
    """
    frame, same = senders[0].queue[0], [senders[0]]
    for sender in senders[1:]:
        other = sender.queue[0]
        if _content(other) < _content(frame):
            frame, same = other, [sender]
        elif _content(other) == _content(frame):
            same.append(sender)
    return frame, same


def _content(frame: CanFrame) -> tuple[int, bytes]:
    return frame.length, frame.data


def winners(candidates: Sequence[CanController]) -> Sequence[CanController]:
    """Return the winners of arbitration: one node, unless identifiers are not unique."""
    if len(candidates) == 1:
        return candidates
    best = min(node.queue[0].priority for node in candidates)
    return [node for node in candidates if node.queue[0].priority == best]


def acknowledged(nodes: Sequence[CanController], senders: Sequence[CanController]) -> bool:
    """Return whether a node acknowledges the frame of `senders`."""
    rate = senders[0].bitrate
    for node in nodes:
        if (node.on_bus and node.acknowledges and not node.listens_only
                and node.bitrate == rate and node not in senders):  # fmt: skip
            return True
    return False


def destroyed_by_foreigner(nodes: Sequence[CanController], rate: int) -> bool:
    """Return whether a node with another bit rate destroys every frame."""
    return any(node.bitrate != rate and node.error_active and node.on_bus for node in nodes)


def duration(frame: CanFrame, outcome: Outcome) -> int:
    """Return the bits until the bus is recessive again, without the intermission."""
    if outcome is Outcome.SENT:
        return bits.frame_bits(frame) + bits.TAIL
    if outcome is Outcome.FOREIGN:
        return _FOREIGN_FINDS + bits.ERROR_FRAME
    # A collision ends at the first difference, wherever in the data: counted as the whole frame.
    return bits.frame_bits(frame) + bits.BEFORE_ACK_ERROR + bits.ERROR_FRAME


CAUSES: Final = {
    Outcome.NOT_ACKNOWLEDGED: Cause.NOT_ACKNOWLEDGED,
    Outcome.COLLISION: Cause.BIT,
    Outcome.FOREIGN: Cause.BIT,
    Outcome.CORRUPTED: Cause.BIT,
}


@dataclass(frozen=True, slots=True)
class Futile:
    """Attempts without acknowledgement, repeated until something changes.

    They are counted then, and aren't simulated one by one.
    """

    start: int  # [ns] of the first
    period: int  # [ns] from one to the next

    def tries(self, now: int) -> int:
        """Return the number of attempts begun before `now` [ns]."""
        return max(0, -((self.start - now) // self.period))
