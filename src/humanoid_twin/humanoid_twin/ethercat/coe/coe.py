"""The SDO server of one slave: CoE messages in, CoE messages out (ETG.1000.6)."""

from collections.abc import Callable
from dataclasses import dataclass

from humanoid_devices_erob.protocol import coe
from humanoid_devices_erob.protocol.abort import AbortCode
from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_twin.ethercat.coe.dictionary import ObjectDictionary, SdoAbort

_LONGEST_VALUE = 4096  # [bytes] that the slave has memory for; assumed, confirm on hardware
_INITIATE_BYTES = coe.SDO_BYTES  # before the data of a normal transfer
_EXPEDITED_BYTES = 4


@dataclass(frozen=True, slots=True)
class CompletedAccess:
    """A completed access to the dictionary."""

    write: bool
    index: int
    subindex: int
    complete: bool
    data: bytes
    abort: int = 0  # 0: done


@dataclass(slots=True)
class _Transfer:
    """A transfer with more segments to come."""

    index: int
    subindex: int
    complete: bool
    size: int  # [bytes] of the whole object
    data: bytes  # received part of a download, or rest of an upload
    upload: bool
    toggle: bool = False


class SdoServer:
    """Reads and writes a dictionary for a master; at most one transfer is open."""

    def __init__(
        self, dictionary: ObjectDictionary, on_access: Callable[[CompletedAccess], None]
    ) -> None:
        """`on_access` is called after each read and write."""
        self._dictionary = dictionary
        self._on_access = on_access
        self._transfer: _Transfer | None = None

    def reset(self) -> None:
        """Drop an open transfer."""
        self._transfer = None

    def answer(self, payload: bytes, capacity: int) -> bytes | None:
        """Return the answer to an SDO request, at most `capacity` bytes; None if it needs none.

        Raises ProtocolError if `payload` is no SDO request at all.
        """
        if coe.service_of(payload) != coe.Service.SDO_REQUEST:
            raise ProtocolError(f"no SDO request: {payload[:16].hex(' ')}")
        index, subindex = int.from_bytes(payload[3:5], "little"), (payload + bytes(6))[5]
        try:
            response = self._respond(coe.decode_request(payload), capacity)
        except SdoAbort as abort:
            response = self._aborted(index, subindex, abort.code)
        except ProtocolError:
            response = self._aborted(index, subindex, AbortCode.COMMAND)
        return None if response is None else response.encode()

    def _aborted(self, index: int, subindex: int, code: int) -> coe.Abort:
        if self._transfer is not None:
            index, subindex = self._transfer.index, self._transfer.subindex
        self._transfer = None
        return coe.Abort(index, subindex, code)

    def _respond(self, request: coe.Request, capacity: int) -> coe.Response | None:
        match request:
            case coe.SegmentDownload():
                return self._segment_in(request)
            case coe.SegmentUploadRequest():
                return self._segment_out(request, capacity)
        self._transfer = None
        match request:
            case coe.ExpeditedDownload(index, subindex, data, complete):
                self._write(index, subindex, complete, data)
                return coe.DownloadResponse(index, subindex, complete)
            case coe.NormalDownload():
                return self._download(request)
            case coe.UploadRequest():
                return self._upload(request, capacity)
        return None  # the master has aborted

    def _download(self, request: coe.NormalDownload) -> coe.Response:
        index, subindex, complete = request.index, request.subindex, request.complete
        if request.size > _LONGEST_VALUE:
            raise SdoAbort(AbortCode.OUT_OF_MEMORY)
        if len(request.data) == request.size:
            self._write(index, subindex, complete, request.data)
        else:
            self._transfer = _Transfer(
                index, subindex, complete, request.size, request.data, upload=False
            )
        return coe.DownloadResponse(index, subindex, complete)

    def _segment_in(self, request: coe.SegmentDownload) -> coe.Response:
        transfer = self._open(request.toggle, upload=False)
        transfer.data += request.data
        if len(transfer.data) > transfer.size:
            raise SdoAbort(AbortCode.TOO_LONG)
        if request.last:
            if len(transfer.data) < transfer.size:
                raise SdoAbort(AbortCode.TOO_SHORT)
            self._write(transfer.index, transfer.subindex, transfer.complete, transfer.data)
            self._transfer = None
        transfer.toggle = not transfer.toggle
        return coe.SegmentDownloadResponse(request.toggle)

    def _upload(self, request: coe.UploadRequest, capacity: int) -> coe.Response:
        index, subindex, complete = request.index, request.subindex, request.complete
        data = self._read(index, subindex, complete)
        if 1 <= len(data) <= _EXPEDITED_BYTES:
            return coe.ExpeditedUpload(index, subindex, data, complete)
        room = capacity - _INITIATE_BYTES
        if len(data) > room:
            self._transfer = _Transfer(
                index, subindex, complete, len(data), data[room:], upload=True
            )
        return coe.NormalUpload(index, subindex, len(data), data[:room], complete)

    def _segment_out(self, request: coe.SegmentUploadRequest, capacity: int) -> coe.Response:
        transfer = self._open(request.toggle, upload=True)
        room = capacity - coe.SEGMENT_BYTES
        piece, transfer.data = transfer.data[:room], transfer.data[room:]
        transfer.toggle = not transfer.toggle
        if not transfer.data:
            self._transfer = None
        return coe.SegmentUpload(request.toggle, not transfer.data, piece)

    def _open(self, toggle: bool, *, upload: bool) -> _Transfer:
        transfer = self._transfer
        if transfer is None or transfer.upload != upload:
            raise SdoAbort(AbortCode.COMMAND)
        if toggle != transfer.toggle:
            raise SdoAbort(AbortCode.TOGGLE)
        return transfer

    def _read(self, index: int, subindex: int, complete: bool) -> bytes:
        read = self._dictionary.read_complete if complete else self._dictionary.read
        try:
            data = read(index, subindex)
        except SdoAbort as abort:
            self._on_access(CompletedAccess(False, index, subindex, complete, b"", abort.code))
            raise
        self._on_access(CompletedAccess(False, index, subindex, complete, data))
        return data

    def _write(self, index: int, subindex: int, complete: bool, data: bytes) -> None:
        write = self._dictionary.write_complete if complete else self._dictionary.write
        try:
            write(index, subindex, data)
        except SdoAbort as abort:
            self._on_access(CompletedAccess(True, index, subindex, complete, data, abort.code))
            raise
        self._on_access(CompletedAccess(True, index, subindex, complete, data))
