"""SDO messages, aborts and emergencies of CoE (ETG.1000.6), without mailbox header.

Each message has `encode()`. An abort travels as service 2 (SDO request) in both directions.
Indices, subindices and codes beyond their field are a caller's mistake: struct.error.
"""

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct

from humanoid_devices_erob.wire.errors import WireError


class Service(IntEnum):
    """Upper four bits of the CoE header."""

    EMERGENCY = 1
    SDO_REQUEST = 2
    SDO_RESPONSE = 3
    TX_PDO = 4
    RX_PDO = 5
    SDO_INFORMATION = 8


EXPEDITED_BYTES = 4  # most that an expedited transfer carries
SDO_BYTES = 10  # CoE header, command, index, subindex, four bytes: the shortest SDO message
SEGMENT_BYTES = 3  # CoE header and command before a segment's data
SEGMENT_MINIMUM = 7  # a segment with less data is padded to this, and says how much is padding

SDO = Struct("<HBHB4s")
SIZED = Struct("<HBHBI")
EMERGENCY = Struct("<HHB5s")

SIZE_SHOWN = 0x01  # of an initiate command
EXPEDITED = 0x02
COMPLETE = 0x10
LAST = 0x01  # of a segment's command
TOGGLE = 0x10

_REQUEST = Service.SDO_REQUEST << 12
_RESPONSE = Service.SDO_RESPONSE << 12


def _expedited(command: int, index: int, subindex: int, data: bytes) -> tuple[int, int, int, bytes]:
    if not 1 <= len(data) <= EXPEDITED_BYTES:
        raise WireError(
            f"an expedited transfer of 0x{index:04X}:{subindex:02X} carries 1 to 4 bytes, "
            f"not {len(data)}"
        )
    unused = EXPEDITED_BYTES - len(data)
    return command | EXPEDITED | SIZE_SHOWN | unused << 2, index, subindex, data


def _segment(service: int, toggle: bool, last: bool, data: bytes) -> bytes:
    unused = max(0, SEGMENT_MINIMUM - len(data))
    command = toggle << 4 | unused << 1 | last
    return service.to_bytes(2, "little") + bytes([command]) + data + bytes(unused)


@dataclass(frozen=True, slots=True)
class ExpeditedDownload:
    """Write an object of 1 to 4 bytes."""

    index: int
    subindex: int
    data: bytes
    complete: bool = False  # complete access: all subindices at once

    def encode(self) -> bytes:
        """The CoE bytes. Raises WireError if `data` doesn't have 1 to 4 bytes."""
        command = 0x20 | self.complete << 4
        return SDO.pack(_REQUEST, *_expedited(command, self.index, self.subindex, self.data))


@dataclass(frozen=True, slots=True)
class NormalDownload:
    """Write an object of any size; what isn't in `data` follows in segments."""

    index: int
    subindex: int
    size: int  # [bytes] of the object
    data: bytes
    complete: bool = False

    def encode(self) -> bytes:
        """The CoE bytes."""
        command = 0x20 | self.complete << 4 | SIZE_SHOWN
        return SIZED.pack(_REQUEST, command, self.index, self.subindex, self.size) + self.data


@dataclass(frozen=True, slots=True)
class SegmentDownload:
    """One more piece of an object that is being written."""

    toggle: bool
    last: bool
    data: bytes

    def encode(self) -> bytes:
        """The CoE bytes."""
        return _segment(_REQUEST, self.toggle, self.last, self.data)


@dataclass(frozen=True, slots=True)
class UploadRequest:
    """Read an object."""

    index: int
    subindex: int
    complete: bool = False

    def encode(self) -> bytes:
        """The CoE bytes."""
        return SDO.pack(_REQUEST, 0x40 | self.complete << 4, self.index, self.subindex, bytes(4))


@dataclass(frozen=True, slots=True)
class SegmentUploadRequest:
    """Ask for the next piece of an object that is being read."""

    toggle: bool

    def encode(self) -> bytes:
        """The CoE bytes."""
        return SDO.pack(_REQUEST, 0x60 | self.toggle << 4, 0, 0, bytes(4))


@dataclass(frozen=True, slots=True)
class Abort:
    """The end of a transfer that failed, from either side."""

    index: int
    subindex: int
    code: int  # AbortCode, or one that no specification knows

    def encode(self) -> bytes:
        """The CoE bytes."""
        return SIZED.pack(_REQUEST, 0x80, self.index, self.subindex, self.code)


@dataclass(frozen=True, slots=True)
class DownloadResponse:
    """An object was written, or its segments are awaited."""

    index: int
    subindex: int
    complete: bool = False

    def encode(self) -> bytes:
        """The CoE bytes."""
        return SDO.pack(_RESPONSE, 0x60 | self.complete << 4, self.index, self.subindex, bytes(4))


@dataclass(frozen=True, slots=True)
class SegmentDownloadResponse:
    """A written piece has arrived."""

    toggle: bool

    def encode(self) -> bytes:
        """The CoE bytes."""
        return SDO.pack(_RESPONSE, 0x20 | self.toggle << 4, 0, 0, bytes(4))


@dataclass(frozen=True, slots=True)
class ExpeditedUpload:
    """The value of an object of 1 to 4 bytes."""

    index: int
    subindex: int
    data: bytes
    complete: bool = False

    def encode(self) -> bytes:
        """The CoE bytes. Raises WireError if `data` doesn't have 1 to 4 bytes."""
        command = 0x40 | self.complete << 4
        return SDO.pack(_RESPONSE, *_expedited(command, self.index, self.subindex, self.data))


@dataclass(frozen=True, slots=True)
class NormalUpload:
    """The start of an object's value; what isn't in `data` is asked for in segments."""

    index: int
    subindex: int
    size: int  # [bytes] of the object
    data: bytes
    complete: bool = False

    def encode(self) -> bytes:
        """The CoE bytes."""
        command = 0x40 | self.complete << 4 | SIZE_SHOWN
        return SIZED.pack(_RESPONSE, command, self.index, self.subindex, self.size) + self.data


@dataclass(frozen=True, slots=True)
class SegmentUpload:
    """One more piece of an object that is being read."""

    toggle: bool
    last: bool
    data: bytes

    def encode(self) -> bytes:
        """The CoE bytes."""
        return _segment(_RESPONSE, self.toggle, self.last, self.data)


@dataclass(frozen=True, slots=True)
class Emergency:
    """A slave reports an error (as in 0x603F) on its own."""

    code: int
    register: int = 0  # as in 0x1001
    data: bytes = bytes(5)

    def encode(self) -> bytes:
        """The CoE bytes. Raises WireError if `data` doesn't have 5 bytes."""
        if len(self.data) != 5:
            raise WireError(f"an emergency carries 5 bytes of data, not {len(self.data)}")
        return EMERGENCY.pack(Service.EMERGENCY << 12, self.code, self.register, self.data)
