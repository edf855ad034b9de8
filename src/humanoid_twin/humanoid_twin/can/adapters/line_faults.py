"""Faults of the serial line between an adapter and its host."""

from dataclasses import dataclass, field
from random import Random
from typing import Final

_BYTES: Final = 256


@dataclass(slots=True)
class LineFaults:
    """Loses and inserts bytes, in both directions, and answers that an adapter leaves out."""

    random: Random = field(default_factory=lambda: Random(0))
    lost_probability: float = 0.0  # of each byte
    inserted_probability: float = 0.0  # of one random byte before each byte
    cut: int = 0  # bytes in a row, at most, that the next transfer loses
    unanswered: bytes = b""  # letters of the commands without an answer
    unanswered_probability: float = 0.0  # of each frame to be sent to get no answer

    def leaves_out(self, line: bytes) -> bool:
        """Return whether the command `line` gets no answer."""
        if line[:1] and line[:1] in self.unanswered:
            return True
        if not self.unanswered_probability or line[:1] not in (b"T", b"t"):
            return False
        return self.random.random() < self.unanswered_probability

    def disturb(self, data: bytes) -> bytes:
        """Return what arrives of `data`, one transfer."""
        if self.cut:
            begin = self.random.randrange(len(data))
            data = data[:begin] + data[begin + self.cut :]
            self.cut = 0
        if not self.lost_probability and not self.inserted_probability:
            return data
        dice, arrived = self.random, bytearray()
        for byte in data:
            if dice.random() < self.inserted_probability:
                arrived.append(dice.randrange(_BYTES))
            if dice.random() >= self.lost_probability:
                arrived.append(byte)
        return bytes(arrived)
