"""One SDO transfer of the master: the request to send next, and the effect of each answer.

Expedited, normal and segmented transfers (ETG.1000.6), without time and frames.
"""

from humanoid_devices_erob.mailbox.sdo import LONGEST, SdoObject, SdoOutcome, SdoStatus
from humanoid_devices_erob.protocol import coe
from humanoid_devices_erob.protocol.abort import AbortCode, describe_abort
from humanoid_devices_erob.protocol.mailbox import HEADER_BYTES

_EXPEDITED_BYTES = 4


def _names(
    target: SdoObject,
    response: coe.DownloadResponse | coe.ExpeditedUpload | coe.NormalUpload | coe.Abort,
) -> bool:
    return (response.index, response.subindex) == target.key


def _aborted(code: int) -> SdoOutcome:
    message = f"the drive aborted with {describe_abort(code)}"
    return SdoOutcome(SdoStatus.ABORTED, abort_code=code, message=message)


def _contradictory(message: str) -> SdoOutcome:
    return SdoOutcome(SdoStatus.ABORTED, abort_code=AbortCode.LENGTH, message=message)


class Download:
    """Writes an object of at least one byte; the transfer has ended when `outcome` is set."""

    def __init__(self, target: SdoObject, mailbox_size: int) -> None:
        self.outcome: SdoOutcome | None = None
        self.request: coe.Request
        self._target = target
        self._piece = mailbox_size - HEADER_BYTES - coe.SEGMENT_BYTES
        self._rest = b""
        data = target.data
        if len(data) <= _EXPEDITED_BYTES:
            self.request = coe.ExpeditedDownload(*target.key, data)
        else:
            first = mailbox_size - HEADER_BYTES - coe.SDO_BYTES
            self.request = coe.NormalDownload(*target.key, len(data), data[:first])
            self._rest = data[first:]

    def take(self, response: coe.Response) -> bool:
        """Evaluate a response; return whether it answers `request`."""
        if isinstance(response, coe.Abort) and _names(self._target, response):
            self.outcome = _aborted(response.code)
            return True
        if not self._answered_by(response):
            return False
        if not self._rest:
            self.outcome = SdoOutcome(SdoStatus.DONE)
            return True
        data, self._rest = self._rest[: self._piece], self._rest[self._piece :]
        toggle = isinstance(self.request, coe.SegmentDownload) and not self.request.toggle
        self.request = coe.SegmentDownload(toggle, not self._rest, data)
        return True

    def _answered_by(self, response: coe.Response) -> bool:
        if isinstance(self.request, coe.SegmentDownload):
            return response == coe.SegmentDownloadResponse(self.request.toggle)
        return isinstance(response, coe.DownloadResponse) and _names(self._target, response)


class Upload:
    """Reads an object; the transfer has ended when `outcome` is set."""

    def __init__(self, target: SdoObject) -> None:
        self.outcome: SdoOutcome | None = None
        self.request: coe.Request = coe.UploadRequest(*target.key)
        self._target = target
        self._size = 0
        self._data = b""

    def take(self, response: coe.Response) -> bool:
        """Evaluate a response; return whether it answers `request`."""
        if isinstance(response, coe.Abort) and _names(self._target, response):
            self.outcome = _aborted(response.code)
            return True
        if isinstance(self.request, coe.SegmentUploadRequest):
            return self._take_segment(response, self.request.toggle)
        return self._take_first(response)

    def _take_first(self, response: coe.Response) -> bool:
        if isinstance(response, coe.ExpeditedUpload) and _names(self._target, response):
            self.outcome = SdoOutcome(SdoStatus.DONE, response.data)
            return True
        if isinstance(response, coe.NormalUpload) and _names(self._target, response):
            self._size, self._data = response.size, response.data
            if self._size > LONGEST:
                self.outcome = _contradictory(
                    f"the drive announces {self._size} bytes, expected at most {LONGEST}"
                )
                return True
            self._continue(toggle=False, last=len(self._data) == self._size)
            return True
        return False

    def _take_segment(self, response: coe.Response, toggle: bool) -> bool:
        if not isinstance(response, coe.SegmentUpload) or response.toggle != toggle:
            return False
        if not (response.data or response.last):  # it could go on like that for ever
            received = len(self._data)
            self.outcome = _contradictory(
                f"the drive sent an empty segment after {received} of {self._size} bytes"
            )
            return True
        self._data += response.data
        self._continue(toggle=not toggle, last=response.last)
        return True

    def _continue(self, *, toggle: bool, last: bool) -> None:
        received = len(self._data)
        if last and received == self._size:
            self.outcome = SdoOutcome(SdoStatus.DONE, self._data)
        elif last or received >= self._size:
            self.outcome = _contradictory(
                f"the drive announced {self._size} bytes, sent {received}"
            )
        else:
            self.request = coe.SegmentUploadRequest(toggle)


Transfer = Download | Upload
