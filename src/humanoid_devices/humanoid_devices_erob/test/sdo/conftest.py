"""A ring of mailboxes on an injected clock, for the SDO tests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from math import inf
from typing import TypedDict, Unpack

import pytest

from humanoid_devices_erob.mailbox.mailbox_engine import MailboxEngine
from humanoid_devices_erob.mailbox.mailbox_port import Access, MailboxLayout
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult
from humanoid_devices_erob.mailbox.sdo_batch import SHORT_TIMEOUT, SdoBatches
from humanoid_devices_erob.protocol import coe
from humanoid_devices_erob.protocol.mailbox import decode_mailbox, encode_mailbox

LAYOUT = MailboxLayout(write_address=0x1000, write_size=128, read_address=0x1080, read_size=128)
FRAME, DATAGRAM = 40e-6, 10e-6  # [s] each takes
MILLISECOND = 1e-3


class Clock:
    """A clock that only datagrams and waits advance."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Drive:
    """Mailbox and objects of one slave, as ETG.1000.4 and ETG.1000.6 have them."""

    clock: Clock
    delay: float = 2 * MILLISECOND
    objects: dict[tuple[int, int], bytes] = field(default_factory=dict)
    aborts: dict[tuple[int, int], int] = field(default_factory=dict)
    silent: bool = False
    full_until: float = 0.0  # SM0 accepts no message before
    served: list[tuple[float, coe.Request]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.outbox: deque[tuple[float, bytes]] = deque()  # (time in SM1, message)
        self.last = b""  # the last message read
        self.last_request = 0  # its counter
        self.own_counter = 0
        self.activate = 0x01
        self.repeats = 0
        self.reading = b""
        self.segments: tuple[tuple[int, int], bytes] = ((0, 0), b"")

    def post(self, payload: bytes, kind: int = 3, delay: float = 0.0) -> None:
        """Put a message into SM1 after `delay`, after earlier messages."""
        self.own_counter = self.own_counter % 7 + 1
        message = encode_mailbox(payload, counter=self.own_counter, type=kind)
        earliest = self.outbox[-1][0] if self.outbox else 0.0
        self.outbox.append((max(earliest, self.clock() + delay), message.ljust(128, b"\0")))

    def write(self, address: int, data: bytes) -> bool:
        if address == 0x080E:
            if (self.activate ^ data[0]) & 0x02 and self.last:
                self.outbox.appendleft((self.clock(), self.last))
                self.repeats += 1
            self.activate = data[0]
            return True
        assert (address, len(data)) == (0x1000, 128)
        if self.clock() < self.full_until:
            return False
        header, payload = decode_mailbox(data)
        repeated = header.counter and header.counter == self.last_request
        self.last_request = header.counter
        if not (repeated or self.silent):
            self._serve(coe.decode_request(payload))
        return True

    def read(self, address: int, length: int) -> bytes | None:
        if address == 0x080E:
            return bytes([self.activate])
        assert (address, length) == (0x1080, 128)
        if not self.outbox or self.outbox[0][0] > self.clock():
            return None
        self.last = self.outbox.popleft()[1]
        return self.last

    def _serve(self, request: coe.Request) -> None:
        self.served.append((self.clock(), request))
        self.post(self._answer(request).encode(), delay=self.delay)

    def _answer(self, request: coe.Request) -> coe.Response:
        if isinstance(request, coe.SegmentDownload):
            key, so_far = self.segments
            self.segments = (key, so_far + request.data)
            if request.last:
                self.objects[key] = self.segments[1]
            return coe.SegmentDownloadResponse(request.toggle)
        if isinstance(request, coe.SegmentUploadRequest):
            piece, self.reading = self.reading[:119], self.reading[119:]
            return coe.SegmentUpload(request.toggle, not self.reading, piece)
        assert not isinstance(request, coe.Abort), "the engine aborts nothing"
        key = (request.index, request.subindex)
        if key in self.aborts:
            return coe.Abort(*key, self.aborts[key])
        if isinstance(request, coe.UploadRequest):
            return self._upload(key)
        self.segments = (key, request.data)
        if isinstance(request, coe.ExpeditedDownload) or len(request.data) == request.size:
            self.objects[key] = request.data
        return coe.DownloadResponse(*key)

    def _upload(self, key: tuple[int, int]) -> coe.Response:
        data = self.objects[key]
        if len(data) <= 4:
            return coe.ExpeditedUpload(*key, data)
        self.reading = data[112:]
        return coe.NormalUpload(*key, len(data), data[:112])


class Bus:
    """The port of the engine: each frame takes its time, and may be lost either way."""

    def __init__(self, clock: Clock, drives: list[Drive]) -> None:
        self.clock, self.drives = clock, drives
        self.frames = 0
        self.datagrams = [0] * len(drives)
        self.loses_request: Callable[[], bool] = lambda: False
        self.loses_reply: Callable[[], bool] = lambda: False

    def access(self, accesses: Sequence[Access]) -> list[bytes | None]:
        self.frames += 1
        self.clock.now += FRAME
        lost = self.loses_request()
        answers = [None if lost else self._serve(access) for access in accesses]
        return [None] * len(answers) if self.loses_reply() else answers

    def begin(self, accesses: Sequence[Access]) -> None:
        self.under_way = accesses

    def finish(self, seconds: float) -> list[bytes | None] | None:
        return self.access(self.under_way) if seconds > 0.0 else None

    def _serve(self, access: Access) -> bytes | None:
        self.datagrams[access.slave] += 1
        self.clock.now += DATAGRAM
        drive = self.drives[access.slave]
        if access.data:
            return access.data if drive.write(access.address, access.data) else None
        return drive.read(access.address, access.length)


class BatchOptions(TypedDict, total=False):
    """See SdoBatch."""

    mode: int
    number: int
    valid_until: float  # [s]


class World:
    """Drives, bus, engine and batches."""

    def __init__(self, slaves: int, delay: float = 2 * MILLISECOND) -> None:
        self.clock = Clock()
        self.drives = [Drive(self.clock, delay) for _ in range(slaves)]
        self.bus = Bus(self.clock, self.drives)
        self.emergencies: list[tuple[int, coe.Emergency]] = []
        self.engine = MailboxEngine(self.bus, self.clock, [LAYOUT] * slaves)
        self.engine.on_emergency = lambda *it: self.emergencies.append(it)
        self.wakes = 0
        self.batches = SdoBatches(self.engine, self.clock, self._wake)
        self.batches.timeout = SHORT_TIMEOUT

    def _wake(self) -> None:
        self.wakes += 1

    def run(self, future: Future[tuple[SdoResult, ...]], within: float = 10.0) -> list[SdoResult]:
        """Step until the batch has ended; wait exactly until the engine's next due time."""
        end = self.clock() + within
        while not future.done():
            assert self.clock() < end, "the batch takes too long"
            if not self.batches.step() and not future.done():
                assert self.batches.next_due < inf, "nothing is left to do"
                self.clock.now = max(self.clock.now, self.batches.next_due)
        return list(future.result())

    def write(
        self, objects: Iterable[SdoObject], **options: Unpack[BatchOptions]
    ) -> list[SdoResult]:
        return self.run(self.batches.submit(SdoBatch(tuple(objects), write=True, **options)))

    def read(
        self, objects: Iterable[SdoObject], **options: Unpack[BatchOptions]
    ) -> list[SdoResult]:
        return self.run(self.batches.submit(SdoBatch(tuple(objects), write=False, **options)))


@pytest.fixture(scope="session")
def make_world() -> type[World]:
    return World
