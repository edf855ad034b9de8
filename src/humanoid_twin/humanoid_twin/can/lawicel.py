"""Lines of the LAWICEL serial protocol, "slcan" (manuals of LAWICEL's CAN232 and CANUSB).

A frame is `tiiil[dd...]` or `Tiiiiiiiil[dd...]`, a remote frame `riiil` or `Riiiiiiiil`, in
hexadecimal digits, with four digits of milliseconds behind it where time stamps are on.
"""

from typing import Final

from humanoid_twin.can.errors import CanError
from humanoid_twin.can.frame import LONGEST, CanFrame

OK: Final = b"\r"
ERROR: Final = b"\a"
LONGEST_LINE: Final = 1 + 8 + 1 + 2 * LONGEST  # characters of a command
BITRATES: Final = (10_000, 20_000, 50_000, 100_000, 125_000, 250_000, 500_000, 800_000, 1_000_000)
# ^ [bit/s] of S0 to S8
MINUTE: Final = 60_000  # [ms] at which time stamps start again
_DIGITS: Final = frozenset(b"0123456789abcdefABCDEF")


def encode(frame: CanFrame, milliseconds: int | None = None) -> bytes:
    """The line that tells the host of a frame, its end included."""
    remote = frame.requested is not None
    letter = ("R" if remote else "T") if frame.extended else ("r" if remote else "t")
    digits = 8 if frame.extended else 3
    line = f"{letter}{frame.identifier:0{digits}X}{frame.length}{frame.data.hex().upper()}"
    if milliseconds is not None:
        line += f"{milliseconds % MINUTE:04X}"
    return line.encode() + OK


def decode(line: bytes) -> CanFrame:
    """The frame that a line `t`, `T`, `r` or `R` asks to send, without its end.

    Raises:
        CanError: the line is no such command.
    """
    extended, remote = line[:1] in (b"T", b"R"), line[:1] in (b"r", b"R")
    if line[:1] not in (b"t", b"T", b"r", b"R"):
        raise CanError(f"{line!r} is no frame")
    at = 9 if extended else 4
    if len(line) <= at or not _DIGITS.issuperset(line[1:]):
        raise CanError(f"{line!r}: expected an identifier, a length and data in hexadecimal digits")
    length, data = line[at] - ord("0"), line[at + 1 :]
    if not 0 <= length <= LONGEST or len(data) != (0 if remote else 2 * length):
        raise CanError(f"{line!r}: length and data don't match")
    identifier = int(line[1:at], 16)
    if remote:
        return CanFrame(identifier, b"", extended, length)
    return CanFrame(identifier, bytes.fromhex(data.decode()), extended)
