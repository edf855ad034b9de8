"""The kinds of numbers that `hc decode` explains."""

from enum import StrEnum


class Kind(StrEnum):
    """Meaning of a number."""

    STATUSWORD = "statusword"  # 0x6041, 16 bits
    ERROR = "error"  # 0x603F, 16 bits
    HISTORY = "history"  # 0x1003:1 and up, 32 bits: the error code is the lower half
    ABORT = "abort"  # of an SDO, 32 bits
    AL = "al"  # AL status code of a slave, 16 bits

    @property
    def largest(self) -> int:
        """The largest number of this kind."""
        return 0xFFFFFFFF if self in {Kind.HISTORY, Kind.ABORT} else 0xFFFF
