"""One SDO transfer as the master sees it: the request to send now, and what an answer changes.

Expedited, normal and segmented transfers (ETG.1000.6). Knows neither time nor frames.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from humanoid_devices_erob.sdo import LONGEST, SdoOutcome, SdoStatus
from humanoid_devices_erob.wire import coe
from humanoid_devices_erob.wire.mailbox import HEADER_BYTES

_EXPEDITED_BYTES = 4
_DONE = SdoOutcome(SdoStatus.DONE)


class Transfer(Protocol):
    """A transfer that is under way until `outcome` is there."""

    request: coe.Request
    outcome: SdoOutcome | None

    def take(self, response: coe.Response) -> bool:
        """Use an answer; False if it doesn't belong to `request` and nothing changed."""


@dataclass(frozen=True, slots=True)
class _Aim:
    """The object a transfer is about."""

    index: int
    subindex: int

    def named_by(
        self, response: coe.DownloadResponse | coe.ExpeditedUpload | coe.NormalUpload | coe.Abort
    ) -> bool:
        return (response.index, response.subindex) == (self.index, self.subindex)


def _aborted(code: int) -> SdoOutcome:
    message = f"the drive aborted with {coe.describe_abort(code)}"
    return SdoOutcome(SdoStatus.ABORTED, abort_code=code, message=message)


def _contradictory(message: str) -> SdoOutcome:
    return SdoOutcome(SdoStatus.ABORTED, abort_code=coe.AbortCode.LENGTH, message=message)


class Download:
    """Writes an object of at least one byte."""

    def __init__(self, index: int, subindex: int, data: bytes, mailbox_size: int) -> None:
        self.outcome: SdoOutcome | None = None
        self.request: coe.Request
        self._aim = _Aim(index, subindex)
        self._piece = mailbox_size - HEADER_BYTES - coe.SEGMENT_BYTES
        self._rest = b""
        if len(data) <= _EXPEDITED_BYTES:
            self.request = coe.ExpeditedDownload(index, subindex, data)
        else:
            first = mailbox_size - HEADER_BYTES - coe.SDO_BYTES
            self.request = coe.NormalDownload(index, subindex, len(data), data[:first])
            self._rest = data[first:]

    def take(self, response: coe.Response) -> bool:
        """Use an answer; False if it doesn't belong to the request."""
        if isinstance(response, coe.Abort) and self._aim.named_by(response):
            self.outcome = _aborted(response.code)
            return True
        if not self._answered_by(response):
            return False
        if not self._rest:
            self.outcome = _DONE
            return True
        data, self._rest = self._rest[: self._piece], self._rest[self._piece :]
        toggle = isinstance(self.request, coe.SegmentDownload) and not self.request.toggle
        self.request = coe.SegmentDownload(toggle, not self._rest, data)
        return True

    def _answered_by(self, response: coe.Response) -> bool:
        if isinstance(self.request, coe.SegmentDownload):
            return response == coe.SegmentDownloadResponse(self.request.toggle)
        return isinstance(response, coe.DownloadResponse) and self._aim.named_by(response)


class Upload:
    """Reads an object."""

    def __init__(self, index: int, subindex: int) -> None:
        self.outcome: SdoOutcome | None = None
        self.request: coe.Request = coe.UploadRequest(index, subindex)
        self._aim = _Aim(index, subindex)
        self._size = 0
        self._data = b""

    def take(self, response: coe.Response) -> bool:
        """Use an answer; False if it doesn't belong to the request."""
        if isinstance(response, coe.Abort) and self._aim.named_by(response):
            self.outcome = _aborted(response.code)
            return True
        if isinstance(self.request, coe.SegmentUploadRequest):
            return self._take_segment(response, self.request.toggle)
        return self._take_first(response)

    def _take_first(self, response: coe.Response) -> bool:
        if isinstance(response, coe.ExpeditedUpload) and self._aim.named_by(response):
            self.outcome = SdoOutcome(SdoStatus.DONE, response.data)
            return True
        if isinstance(response, coe.NormalUpload) and self._aim.named_by(response):
            self._size, self._data = response.size, response.data
            if self._size > LONGEST:
                self.outcome = _contradictory(
                    f"the drive announces {self._size} bytes, expected at most {LONGEST}"
                )
                return True
            self._go_on(toggle=False, last=len(self._data) == self._size)
            return True
        return False

    def _take_segment(self, response: coe.Response, toggle: bool) -> bool:
        if not isinstance(response, coe.SegmentUpload) or response.toggle != toggle:
            return False
        self._data += response.data
        self._go_on(toggle=not toggle, last=response.last)
        return True

    def _go_on(self, *, toggle: bool, last: bool) -> None:
        read = len(self._data)
        if last and read == self._size:
            self.outcome = SdoOutcome(SdoStatus.DONE, self._data)
        elif last or read >= self._size:
            self.outcome = _contradictory(f"the drive announced {self._size} bytes, sent {read}")
        else:
            self.request = coe.SegmentUploadRequest(toggle)
