"""The number of bits of a frame on the wire, stuff bits included (ISO 11898-1).

Tables take a byte at a time, so that a frame costs a few microseconds.
"""

from functools import lru_cache
from typing import Final

from humanoid_twin.can.frame import CanFrame

_POLYNOMIAL: Final = 0x4599  # CRC-15 of CAN: x^15 + x^14 + x^10 + x^8 + x^7 + x^4 + x^3 + 1
TAIL: Final = 10  # CRC delimiter, ACK slot, ACK delimiter, end of frame: never stuffed
INTERMISSION: Final = 3
BEFORE_ACK_ERROR: Final = 2  # CRC delimiter and ACK slot
ERROR_FRAME: Final = 6 + 8  # flag (superposed ones may be longer) and delimiter
SUSPEND: Final = 8  # a transmitter that is error passive waits this long after its frame
RECOVERY_SEQUENCES: Final = 128  # of 11 recessive bits, before bus-off may be left
RECESSIVE_SEQUENCE: Final = 11
_LONGEST_RUN: Final = 5  # equal bits; a stuff bit follows


def _crc_table() -> tuple[int, ...]:
    table = []
    for byte in range(256):
        crc = byte << 7
        for _ in range(8):
            crc = (crc << 1) ^ (_POLYNOMIAL if crc & 0x4000 else 0)
        table.append(crc & 0x7FFF)
    return tuple(table)


_CRC: Final = _crc_table()


def crc15(bits: int, count: int) -> int:
    """Return the checksum of the `count` bits from start of frame to the end of the data."""
    crc = 0
    for byte in bits.to_bytes((count + 7) // 8, "big"):  # zeros in front change nothing
        crc = (crc << 8 & 0x7FFF) ^ _CRC[crc >> 7 ^ byte]
    return crc


def _stuff(state: int, bits: int, count: int) -> tuple[int, int]:
    """Return the state after `count` more bits, and the number of stuff bits among and behind them.

    A state is 5 · last bit + equal bits so far − 1.
    """
    last, run = divmod(state, _LONGEST_RUN)
    stuffed = 0
    for place in range(count - 1, -1, -1):
        bit = bits >> place & 1
        run = run + 1 if bit == last else 0
        last = bit
        if run == _LONGEST_RUN - 1:
            stuffed += 1
            last, run = 1 - bit, 0
    return last * _LONGEST_RUN + run, stuffed


def _stuff_table(count: int) -> tuple[tuple[int, int], ...]:
    return tuple(_stuff(state, bits, count) for state in range(10) for bits in range(1 << count))


_STUFF: Final = _stuff_table(8)
_STUFF_7: Final = _stuff_table(7)
# Recessive bits before the start of frame don't count: a state that no run can reach.
_IDLE: Final = _LONGEST_RUN - 1 + _LONGEST_RUN


def _head(frame: CanFrame) -> tuple[int, int]:
    """Return the bits from start of frame to the data length code, and their number."""
    length, remote = frame.length, frame.requested is not None
    if frame.extended:  # start, 11 bits, SRR, IDE, 18 bits, RTR, r1, r0, DLC
        return frame.priority << 6 | length, 39
    return frame.identifier << 7 | remote << 6 | length, 19  # start, 11 bits, RTR, IDE, r0, DLC


@lru_cache(maxsize=1024)
def _headed(identifier: int, length: int, extended: bool, remote: bool) -> tuple[int, int, int]:
    """Return checksum, stuffing state and bits on the wire at the end of the head.

    Cached: a bus carries few different heads.
    """
    frame = CanFrame(identifier, bytes(0 if remote else length), extended,
                     length if remote else None)  # fmt: skip
    bits, count = _head(frame)
    state, stuffed = _stuff(_IDLE, bits, count)
    return crc15(bits, count), state, count + stuffed


def frame_bits(frame: CanFrame) -> int:
    """Return the bits from start of frame to the end of the checksum, stuff bits included."""
    return _bits(frame.identifier, frame.data, frame.extended, frame.requested)


@lru_cache(maxsize=1024)
def _bits(identifier: int, data: bytes, extended: bool, requested: int | None) -> int:
    """See frame_bits. Cached: motors at rest send the same frames again and again."""
    remote = requested is not None
    crc, state, total = _headed(
        identifier, len(data) if requested is None else requested, extended, remote
    )
    for byte in data:
        crc = (crc << 8 & 0x7FFF) ^ _CRC[crc >> 7 ^ byte]
        state, stuffed = _STUFF[state << 8 | byte]
        total += stuffed
    state, stuffed = _STUFF[state << 8 | crc >> 7]
    _, last = _STUFF_7[state << 7 | crc & 0x7F]
    return total + 8 * len(data) + 15 + stuffed + last
