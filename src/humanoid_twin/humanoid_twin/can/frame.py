"""One frame of CAN 2.0 (ISO 11898-1), as all nodes see it."""

from dataclasses import dataclass, field

from humanoid_twin.errors import CanError

LONGEST = 8  # [bytes] of data


@dataclass(slots=True)  # not frozen, since many are made; nothing changes one
class CanFrame:
    """A data frame, or with `requested` a remote frame.

    Raises:
        CanError: an identifier or a length out of range.
    """

    identifier: int  # 29 bits if extended, else 11
    data: bytes = b""
    extended: bool = True
    requested: int | None = None  # [bytes] of data that a remote frame requests
    # The bits that arbitration compares, 0 being dominant: the lower number wins. A standard frame
    # beats an extended one with the same first 11 bits, a data frame a remote one with the same
    # identifier.
    priority: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        bits = 29 if self.extended else 11
        if self.identifier >> bits:  # of a negative number as well
            raise CanError(f"identifier 0x{self.identifier:X} has more than {bits} bits")
        if len(self.data) > LONGEST:
            raise CanError(f"{len(self.data)} bytes of data, a frame carries {LONGEST}")
        if self.requested is not None and (self.data or not 0 <= self.requested <= LONGEST):
            raise CanError(f"a remote frame asks for 0 to {LONGEST} bytes and carries none")
        remote = self.requested is not None
        if self.extended:
            base, rest = self.identifier >> 18, self.identifier & 0x3FFFF
            self.priority = base << 21 | 0b11 << 19 | rest << 1 | remote
        else:
            self.priority = self.identifier << 21 | remote << 20

    @property
    def length(self) -> int:
        """The data length code."""
        return len(self.data) if self.requested is None else self.requested
