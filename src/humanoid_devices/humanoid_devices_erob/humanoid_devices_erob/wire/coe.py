"""CoE (ETG.1000.6): messages to bytes and back, for the master and for the drive."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from humanoid_devices_erob.wire.abort import AbortCode, describe_abort
from humanoid_devices_erob.wire.errors import WireError
from humanoid_devices_erob.wire.sdo_messages import (
    COMPLETE,
    EMERGENCY,
    EXPEDITED,
    LAST,
    SDO,
    SDO_BYTES,
    SEGMENT_BYTES,
    SEGMENT_MINIMUM,
    SIZE_SHOWN,
    SIZED,
    TOGGLE,
    Abort,
    DownloadResponse,
    Emergency,
    ExpeditedDownload,
    ExpeditedUpload,
    NormalDownload,
    NormalUpload,
    SegmentDownload,
    SegmentDownloadResponse,
    SegmentUpload,
    SegmentUploadRequest,
    Service,
    UploadRequest,
)

__all__ = [
    "SDO_BYTES", "SEGMENT_BYTES", "Abort", "AbortCode", "DownloadResponse", "Emergency",
    "ExpeditedDownload", "ExpeditedUpload", "NormalDownload", "NormalUpload", "Request",
    "Response", "SegmentDownload", "SegmentDownloadResponse", "SegmentUpload",
    "SegmentUploadRequest", "Service", "UploadRequest", "decode_request", "decode_response",
    "describe_abort", "encode_request", "encode_response", "service_of",
]  # fmt: skip

M = TypeVar("M")

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


def encode_request(request: Request) -> bytes:
    """The CoE bytes of what a master sends. Raises WireError."""
    return request.encode()


def encode_response(response: Response) -> bytes:
    """The CoE bytes of what a slave sends. Raises WireError."""
    return response.encode()


def service_of(payload: bytes) -> int:
    """The service of a CoE message, known or not. Raises WireError without a CoE header."""
    if len(payload) < 2:
        raise WireError(f"no CoE header in {len(payload)} bytes")
    return payload[1] >> 4


def decode_request(payload: bytes) -> Request:
    """What a master asks. Raises WireError for anything that is no SDO request or is cut."""
    if service_of(payload) != Service.SDO_REQUEST:
        raise WireError(f"no SDO request: {payload.hex(' ')}")
    return _decoded(payload, _REQUESTS)


def decode_response(payload: bytes) -> Response:
    """What a slave answers or reports. Raises WireError for anything else, or if it is cut."""
    service = service_of(payload)
    if service == Service.EMERGENCY:
        return _emergency(payload)
    if service == Service.SDO_RESPONSE:
        return _decoded(payload, _RESPONSES)
    if service == Service.SDO_REQUEST:
        return _decoded(payload, _ABORT_ONLY)
    raise WireError(f"no SDO response: {payload.hex(' ')}")


def _decoded(payload: bytes, decoders: Mapping[int, Callable[[bytes], M]]) -> M:
    if len(payload) < SDO_BYTES:
        raise WireError(f"an SDO message has 10 bytes or more, not {len(payload)}")
    decoder = decoders.get(payload[2] >> 5)
    if decoder is None:
        raise WireError(f"SDO command 0x{payload[2]:02X} is unknown here: {payload.hex(' ')}")
    return decoder(payload)


def _expedited(payload: bytes) -> tuple[int, int, bytes, bool]:
    _, command, index, subindex, data = SDO.unpack_from(payload)
    unused = command >> 2 & 3 if command & SIZE_SHOWN else 0
    return index, subindex, data[: 4 - unused], bool(command & COMPLETE)


def _sized(payload: bytes) -> tuple[int, int, int, bytes, bool]:
    _, command, index, subindex, size = SIZED.unpack_from(payload)
    data = bytes(payload[SIZED.size :])
    if not command & SIZE_SHOWN:
        raise WireError(f"0x{index:04X}:{subindex:02X}: a normal transfer must tell its size")
    if len(data) > size:
        raise WireError(f"0x{index:04X}:{subindex:02X}: {len(data)} bytes, but its size is {size}")
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


def _upload_request(payload: bytes) -> UploadRequest:
    _, command, index, subindex, _ = SDO.unpack_from(payload)
    return UploadRequest(index, subindex, bool(command & COMPLETE))


def _download_response(payload: bytes) -> DownloadResponse:
    _, command, index, subindex, _ = SDO.unpack_from(payload)
    return DownloadResponse(index, subindex, bool(command & COMPLETE))


def _abort(payload: bytes) -> Abort:
    _, _, index, subindex, code = SIZED.unpack_from(payload)
    return Abort(index, subindex, code)


def _emergency(payload: bytes) -> Emergency:
    if len(payload) < EMERGENCY.size:
        raise WireError(f"an emergency has 10 bytes, not {len(payload)}: {payload.hex(' ')}")
    _, code, register, data = EMERGENCY.unpack_from(payload)
    return Emergency(code, register, data)


# By command specifier, the upper three bits of the command.
_REQUESTS: Mapping[int, Callable[[bytes], Request]] = {
    0: lambda payload: SegmentDownload(*_segment(payload)),
    1: _download,
    2: _upload_request,
    3: lambda payload: SegmentUploadRequest(bool(payload[2] & TOGGLE)),
    4: _abort,
}
_RESPONSES: Mapping[int, Callable[[bytes], Response]] = {
    0: lambda payload: SegmentUpload(*_segment(payload)),
    1: lambda payload: SegmentDownloadResponse(bool(payload[2] & TOGGLE)),
    2: _upload,
    3: _download_response,
    4: _abort,  # some slaves answer an abort as a response; ETG.1000.6 has it as a request
}
_ABORT_ONLY: Mapping[int, Callable[[bytes], Response]] = {4: _abort}
