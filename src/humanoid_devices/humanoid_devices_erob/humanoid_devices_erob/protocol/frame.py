"""EtherCAT frames: datagrams to a frame and back, without state (ETG.1000.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final

from humanoid_devices_erob.protocol.errors import ProtocolError

ETHERTYPE: Final = 0x88A4
HEADER_BYTES: Final = 16  # with EtherCAT's own two bytes
DATAGRAM_BYTES: Final = 12  # header and working counter of a datagram
LONGEST_FRAME: Final = 1514
SHORTEST_FRAME: Final = 60  # without checksum; shorter frames are padded
FRAME_ROOM: Final = LONGEST_FRAME - HEADER_BYTES  # for datagrams, DATAGRAM_BYTES and data each
LENGTH_MASK: Final = 0x07FF
MORE_FOLLOWS: Final = 0x8000
CIRCULATING: Final = 0x4000
PROTOCOL_DATAGRAMS: Final = 1
DATAGRAM_HEADER: Final = Struct("<BBIHH")  # command, index, address, length and flags, event
WORKING_COUNTER: Final = Struct("<H")
BROADCAST: Final = b"\xff" * 6
MASTER: Final = b"\x01" * 6  # SOEM's own address


class Command(IntEnum):
    """Commands of a datagram: A by position, F by station address, B to all, L logical."""

    NOP = 0
    APRD = 1
    APWR = 2
    APRW = 3
    FPRD = 4
    FPWR = 5
    FPRW = 6
    BRD = 7
    BWR = 8
    BRW = 9
    LRD = 10
    LWR = 11
    LRW = 12
    ARMW = 13
    FRMW = 14


@dataclass(frozen=True, slots=True)
class Datagram:
    """One command of a frame. `address` is 32 bits: logical, or position/station | offset << 16."""

    command: int
    address: int
    data: bytes
    index: int = 0
    event: int = 0
    counter: int = 0


def physical(station: int, offset: int) -> int:
    """Return a register's 32-bit address; `station`: a position (negative) or station address."""
    return station & 0xFFFF | offset << 16


def encode_frame(datagrams: Sequence[Datagram]) -> bytes:
    """Return an Ethernet frame to all, not padded to 60 bytes. Raises ProtocolError if too long."""
    if not datagrams:
        raise ProtocolError("an EtherCAT frame has one datagram or more")
    parts = []
    for number, datagram in enumerate(datagrams):
        size = len(datagram.data)
        if size > LENGTH_MASK:
            raise ProtocolError(f"datagram {number} has {size} bytes of data, 2047 at most")
        more = MORE_FOLLOWS if number + 1 < len(datagrams) else 0
        parts += [
            DATAGRAM_HEADER.pack(
                datagram.command, datagram.index, datagram.address, size | more, datagram.event
            ),
            datagram.data,
            WORKING_COUNTER.pack(datagram.counter),
        ]
    body = b"".join(parts)
    if HEADER_BYTES + len(body) > LONGEST_FRAME:
        raise ProtocolError(f"a frame has 1514 bytes at most, not {HEADER_BYTES + len(body)}")
    header = len(body) | PROTOCOL_DATAGRAMS << 12
    return BROADCAST + MASTER + ETHERTYPE.to_bytes(2, "big") + header.to_bytes(2, "little") + body


def decode_frame(frame: bytes) -> list[Datagram]:
    """Return the datagrams of an Ethernet frame. Raises ProtocolError if it is invalid or cut."""
    if len(frame) < HEADER_BYTES or int.from_bytes(frame[12:14], "big") != ETHERTYPE:
        raise ProtocolError(f"no EtherCAT frame: {frame[:HEADER_BYTES].hex(' ')}")
    header = int.from_bytes(frame[14:16], "little")
    if header >> 12 != PROTOCOL_DATAGRAMS:
        raise ProtocolError(f"EtherCAT protocol {header >> 12}, expected 1 (datagrams)")
    end = HEADER_BYTES + (header & LENGTH_MASK)
    if end > len(frame):
        raise ProtocolError(f"the length of the frame is {end} bytes, found {len(frame)}")
    datagrams = []
    position, more = HEADER_BYTES, True
    while more:
        datagram, position, more = _datagram(frame, position, end)
        datagrams.append(datagram)
    return datagrams


def _datagram(frame: bytes, position: int, end: int) -> tuple[Datagram, int, bool]:
    if position + DATAGRAM_BYTES > end:
        raise ProtocolError(f"a datagram begins at byte {position}, but the frame ends at {end}")
    command, index, address, flags, event = DATAGRAM_HEADER.unpack_from(frame, position)
    start = position + DATAGRAM_HEADER.size
    stop = start + (flags & LENGTH_MASK)
    if stop + WORKING_COUNTER.size > end:
        raise ProtocolError(f"datagram at byte {position} ends at {stop + 2}, the frame at {end}")
    counter = WORKING_COUNTER.unpack_from(frame, stop)[0]
    datagram = Datagram(command, address, bytes(frame[start:stop]), index, event, counter)
    return datagram, stop + WORKING_COUNTER.size, bool(flags & MORE_FOLLOWS)
