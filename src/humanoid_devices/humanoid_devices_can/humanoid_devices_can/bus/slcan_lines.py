"""The lines of slcan: commands, answers, and frames as text (LAWICEL CAN232 manual).

The protocol has no checksum: the length of a line alone shows that characters were lost or came
from elsewhere.
"""

from __future__ import annotations

from binascii import unhexlify
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from humanoid_devices_can.bus.bus import (
    EXTENDED_BITS,
    LONGEST_PAYLOAD,
    STANDARD_BITS,
    BusSettings,
    CanFrame,
    DataFrame,
    InvalidFrame,
    foreign_frame,
)

ACCEPTED: Final = frozenset((b"Z", b"z"))  # answers to a frame
CLOSE: Final = b"C\r"  # the channel
ASK_FLAGS: Final = b"F\r"
ASK_VERSION: Final = b"V\r"  # the one request that adapters of all makes answer
FLAGS: Final = b"F"  # the first character of the answer
VERSION: Final = frozenset((b"V", b"v"))
STAMP: Final = 2  # bytes of a time stamp behind a frame, which some adapters add
_OPEN: Final = b"O\r"
# They end a command that a dead process left half written (LAWICEL manual: two or three).
_EMPTY_LINES: Final = b"\r\r"
_BITRATES: Final[Mapping[int, bytes]] = {  # [bit/s]
    10_000: b"S0\r",
    20_000: b"S1\r",
    50_000: b"S2\r",
    100_000: b"S3\r",
    125_000: b"S4\r",
    250_000: b"S5\r",
    500_000: b"S6\r",
    750_000: b"S7\r",
    1_000_000: b"S8\r",
    83_300: b"S9\r",  # not LAWICEL's
}


class _Kind(NamedTuple):
    """Properties of a frame, from the first character of its line."""

    extended: bool
    data: bool  # a data frame of CAN 2.0


_KINDS: Final[Mapping[bytes, _Kind]] = {
    b"t": _Kind(extended=False, data=True),
    b"T": _Kind(extended=True, data=True),
    b"x": _Kind(extended=True, data=True),  # of a CANDapter
    b"r": _Kind(extended=False, data=False),
    b"R": _Kind(extended=True, data=False),
    # CAN FD, of a CANable 2.0
    b"d": _Kind(extended=False, data=False),
    b"D": _Kind(extended=True, data=False),
    b"b": _Kind(extended=False, data=False),
    b"B": _Kind(extended=True, data=False),
}


def opening_commands(bitrate: int) -> bytes:
    """Return the lines that open the channel at a bit rate [bit/s]. Raises ValueError."""
    if bitrate not in _BITRATES:
        known = ", ".join(map(str, _BITRATES))
        raise ValueError(f"Invalid bitrate, choose one of {known}.")
    return _EMPTY_LINES + CLOSE + _BITRATES[bitrate] + _OPEN


def frame_lines(frames: Iterable[CanFrame], *, extended: bool) -> bytes:
    """Return the lines that send frames."""
    layout = "T%08X%d%s\r" if extended else "t%03X%d%s\r"
    lines = [layout % (name, len(data), data.hex().upper()) for name, data in frames]
    return "".join(lines).encode()


def frame_of(line: bytes, settings: BusSettings) -> DataFrame | InvalidFrame | None:
    """Return the frame of a line that is no other answer; None for an empty one.

    Text without a known beginning is a frame that has lost its first character, or the adapter ends
    its lines in another way, or has another protocol.
    """
    kind = _KINDS.get(line[:1])
    if kind is None:
        return no_frame(line) if line else None
    try:
        identifier, rest = _identifier(line, kind)
        if not kind.data or kind.extended != settings.extended:
            return InvalidFrame(
                foreign_frame(identifier, extended=kind.extended, data=kind.data, settings=settings)
            )
        size, found = int(rest[:1]), unhexlify(rest[1:])
    except ValueError:
        return no_frame(line)
    if size > LONGEST_PAYLOAD or len(found) - size not in (0, STAMP):
        return no_frame(line)
    return DataFrame(identifier, found[:size])


def flags_of(line: bytes) -> int:
    """Return the status flags of an answer. Raises ValueError."""
    found = unhexlify(line[1:])
    if len(found) != 1:
        raise ValueError(f"damaged: {line!r}")
    return found[0]


def no_frame(line: bytes) -> InvalidFrame:
    """Return the report of a damaged line."""
    return InvalidFrame(f"the adapter sent no frame: damaged: {line!r}")


def _identifier(line: bytes, kind: _Kind) -> tuple[int, bytes]:
    """Return the identifier of a frame and the rest of its line. Raises ValueError."""
    # unhexlify takes digits only: int() takes blanks, signs and underscores, too.
    if kind.extended:
        digits, bits, rest = line[1:9], EXTENDED_BITS, line[9:]
    else:
        digits, bits, rest = b"0" + line[1:4], STANDARD_BITS, line[4:]
    identifier = int.from_bytes(unhexlify(digits), "big")
    if identifier >> bits:
        raise ValueError("more bits than an identifier has")
    return identifier, rest
