"""CoE messages (ETG.1000.6) to bytes and back, for the master and for the drive.

SDO messages, aborts and emergencies, without mailbox header. Each message has `encode()`. An abort
travels as service 2 (SDO request) in both directions. An index, subindex or code that exceeds its
field raises struct.error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import ClassVar, TypeVar

from humanoid_devices_erob.protocol.errors import ProtocolError

M = TypeVar("M")


class Service(IntEnum):
    """Upper four bits of the CoE header."""

    EMERGENCY = 1
    SDO_REQUEST = 2
    SDO_RESPONSE = 3
    TX_PDO = 4
    RX_PDO = 5
    SDO_INFORMATION = 8


EXPEDITED_BYTES = 4  # carried by an expedited transfer at most
SDO_BYTES = 10  # CoE header, command, index, subindex, four bytes: the shortest SDO message
SEGMENT_BYTES = 3  # CoE header and command before a segment's data
SEGMENT_MINIMUM = 7  # shorter data is padded to this; the command has the count of the padding

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


# Messages of both directions share a layout: `_start` is their CoE header and their command.


@dataclass(frozen=True, slots=True)
class _Expedited:
    index: int
    subindex: int
    data: bytes
    complete: bool = False  # complete access: all subindices at once

    _start: ClassVar[tuple[int, int]]

    def encode(self) -> bytes:
        """Return the CoE bytes. Raises ProtocolError if `data` doesn't have 1 to 4 bytes."""
        if not 1 <= len(self.data) <= EXPEDITED_BYTES:
            raise ProtocolError(
                f"an expedited transfer of 0x{self.index:04X}:{self.subindex:02X} carries 1 to 4 "
                f"bytes, not {len(self.data)}"
            )
        header, command = self._start
        unused = EXPEDITED_BYTES - len(self.data)
        command |= self.complete << 4 | EXPEDITED | SIZE_SHOWN | unused << 2
        return SDO.pack(header, command, self.index, self.subindex, self.data)


class ExpeditedDownload(_Expedited):
    """Write an object of 1 to 4 bytes."""

    __slots__ = ()
    _start = _REQUEST, 0x20


class ExpeditedUpload(_Expedited):
    """The value of an object of 1 to 4 bytes."""

    __slots__ = ()
    _start = _RESPONSE, 0x40


@dataclass(frozen=True, slots=True)
class _Normal:
    index: int
    subindex: int
    size: int  # [bytes] of the object
    data: bytes
    complete: bool = False

    _start: ClassVar[tuple[int, int]]

    def encode(self) -> bytes:
        """Return the CoE bytes."""
        header, command = self._start
        command |= self.complete << 4 | SIZE_SHOWN
        return SIZED.pack(header, command, self.index, self.subindex, self.size) + self.data


class NormalDownload(_Normal):
    """Write an object of any size; the rest after `data` follows in segments."""

    __slots__ = ()
    _start = _REQUEST, 0x20


class NormalUpload(_Normal):
    """The start of an object's value; the rest after `data` is requested in segments."""

    __slots__ = ()
    _start = _RESPONSE, 0x40


@dataclass(frozen=True, slots=True)
class _Segment:
    toggle: bool
    last: bool
    data: bytes

    _header: ClassVar[int]

    def encode(self) -> bytes:
        """Return the CoE bytes."""
        unused = max(0, SEGMENT_MINIMUM - len(self.data))
        command = self.toggle << 4 | unused << 1 | self.last
        header = self._header.to_bytes(2, "little")
        return header + bytes([command]) + self.data + bytes(unused)


class SegmentDownload(_Segment):
    """The next piece of an object that is being written."""

    __slots__ = ()
    _header = _REQUEST


class SegmentUpload(_Segment):
    """The next piece of an object that is being read."""

    __slots__ = ()
    _header = _RESPONSE


@dataclass(frozen=True, slots=True)
class _WithoutData:
    index: int
    subindex: int
    complete: bool = False

    _start: ClassVar[tuple[int, int]]

    def encode(self) -> bytes:
        """Return the CoE bytes."""
        header, command = self._start
        return SDO.pack(header, command | self.complete << 4, self.index, self.subindex, bytes(4))


class UploadRequest(_WithoutData):
    """Read an object."""

    __slots__ = ()
    _start = _REQUEST, 0x40


class DownloadResponse(_WithoutData):
    """Confirm that an object was written, or that its segments may follow."""

    __slots__ = ()
    _start = _RESPONSE, 0x60


@dataclass(frozen=True, slots=True)
class _SegmentWithoutData:
    toggle: bool

    _start: ClassVar[tuple[int, int]]

    def encode(self) -> bytes:
        """Return the CoE bytes."""
        header, command = self._start
        return SDO.pack(header, command | self.toggle << 4, 0, 0, bytes(4))


class SegmentUploadRequest(_SegmentWithoutData):
    """Request the next piece of an object that is being read."""

    __slots__ = ()
    _start = _REQUEST, 0x60


class SegmentDownloadResponse(_SegmentWithoutData):
    """Confirm a piece that was written."""

    __slots__ = ()
    _start = _RESPONSE, 0x20


@dataclass(frozen=True, slots=True)
class Abort:
    """The end of a transfer that failed, from either side."""

    index: int
    subindex: int
    code: int  # AbortCode, or an unspecified one

    def encode(self) -> bytes:
        """Return the CoE bytes."""
        return SIZED.pack(_REQUEST, 0x80, self.index, self.subindex, self.code)


@dataclass(frozen=True, slots=True)
class Emergency:
    """An unsolicited error report of a slave, as in 0x603F."""

    code: int
    register: int = 0  # as in 0x1001
    data: bytes = bytes(5)

    def encode(self) -> bytes:
        """Return the CoE bytes. Raises ProtocolError if `data` doesn't have 5 bytes."""
        if len(self.data) != 5:
            raise ProtocolError(f"an emergency carries 5 bytes of data, not {len(self.data)}")
        return EMERGENCY.pack(Service.EMERGENCY << 12, self.code, self.register, self.data)


Request = (
    ExpeditedDownload
    | NormalDownload
    | SegmentDownload
    | UploadRequest
    | SegmentUploadRequest
    | Abort
)
Response = (
    DownloadResponse
    | SegmentDownloadResponse
    | ExpeditedUpload
    | NormalUpload
    | SegmentUpload
    | Abort
    | Emergency
)


def service_of(payload: bytes) -> int:
    """Return the service of a CoE message. Raises ProtocolError without a CoE header."""
    if len(payload) < 2:
        raise ProtocolError(f"no CoE header in {len(payload)} bytes")
    return payload[1] >> 4


def decode_request(payload: bytes) -> Request:
    """Return a master's request. Raises ProtocolError if it is not an SDO request or is cut."""
    if service_of(payload) != Service.SDO_REQUEST:
        raise ProtocolError(f"no SDO request: {payload.hex(' ')}")
    return _decoded(payload, _REQUESTS)


def decode_response(payload: bytes) -> Response:
    """Return a slave's answer or report. Raises ProtocolError for anything else, and if cut."""
    service = service_of(payload)
    if service == Service.EMERGENCY:
        return _emergency(payload)
    if service == Service.SDO_RESPONSE:
        return _decoded(payload, _RESPONSES)
    if service == Service.SDO_REQUEST:
        return _decoded(payload, _ABORT_ONLY)
    raise ProtocolError(f"no SDO response: {payload.hex(' ')}")


def _decoded(payload: bytes, decoders: Mapping[int, Callable[[bytes], M]]) -> M:
    if len(payload) < SDO_BYTES:
        raise ProtocolError(f"an SDO message has 10 bytes or more, not {len(payload)}")
    decoder = decoders.get(payload[2] >> 5)
    if decoder is None:
        raise ProtocolError(f"SDO command 0x{payload[2]:02X} is unknown here: {payload.hex(' ')}")
    return decoder(payload)


def _expedited(payload: bytes) -> tuple[int, int, bytes, bool]:
    _, command, index, subindex, data = SDO.unpack_from(payload)
    unused = command >> 2 & 3 if command & SIZE_SHOWN else 0
    return index, subindex, data[: 4 - unused], bool(command & COMPLETE)


def _sized(payload: bytes) -> tuple[int, int, int, bytes, bool]:
    _, command, index, subindex, size = SIZED.unpack_from(payload)
    data = bytes(payload[SIZED.size :])
    if not command & SIZE_SHOWN:
        raise ProtocolError(
            f"0x{index:04X}:{subindex:02X}: a normal transfer must contain its size"
        )
    if len(data) > size:
        raise ProtocolError(
            f"0x{index:04X}:{subindex:02X}: {len(data)} bytes, but its size is {size}"
        )
    return index, subindex, size, data, bool(command & COMPLETE)


def _download(payload: bytes) -> ExpeditedDownload | NormalDownload:
    if payload[2] & EXPEDITED:
        return ExpeditedDownload(*_expedited(payload))
    return NormalDownload(*_sized(payload))


def _upload(payload: bytes) -> ExpeditedUpload | NormalUpload:
    if payload[2] & EXPEDITED:
        return ExpeditedUpload(*_expedited(payload))
    return NormalUpload(*_sized(payload))


def _segment(payload: bytes) -> tuple[bool, bool, bytes]:
    command, data = payload[2], bytes(payload[SEGMENT_BYTES:])
    if len(data) == SEGMENT_MINIMUM:
        data = data[: SEGMENT_MINIMUM - (command >> 1 & 7)]
    return bool(command & TOGGLE), bool(command & LAST), data


def _without_data(payload: bytes) -> tuple[int, int, bool]:
    _, command, index, subindex, _ = SDO.unpack_from(payload)
    return index, subindex, bool(command & COMPLETE)


def _abort(payload: bytes) -> Abort:
    _, _, index, subindex, code = SIZED.unpack_from(payload)
    return Abort(index, subindex, code)


def _emergency(payload: bytes) -> Emergency:
    if len(payload) < EMERGENCY.size:
        raise ProtocolError(f"an emergency has 10 bytes, not {len(payload)}: {payload.hex(' ')}")
    _, code, register, data = EMERGENCY.unpack_from(payload)
    return Emergency(code, register, data)


# By command specifier, the upper three bits of the command.
_REQUESTS: Mapping[int, Callable[[bytes], Request]] = {
    0: lambda payload: SegmentDownload(*_segment(payload)),
    1: _download,
    2: lambda payload: UploadRequest(*_without_data(payload)),
    3: lambda payload: SegmentUploadRequest(bool(payload[2] & TOGGLE)),
    4: _abort,
}
_RESPONSES: Mapping[int, Callable[[bytes], Response]] = {
    0: lambda payload: SegmentUpload(*_segment(payload)),
    1: lambda payload: SegmentDownloadResponse(bool(payload[2] & TOGGLE)),
    2: _upload,
    3: lambda payload: DownloadResponse(*_without_data(payload)),
    4: _abort,  # some slaves answer an abort as a response; ETG.1000.6 has it as a request
}
_ABORT_ONLY: Mapping[int, Callable[[bytes], Response]] = {4: _abort}
