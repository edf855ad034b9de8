"""The mailbox of one slave: two buffers, one request at a time, a delay (ETG.1000.4)."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_devices_erob.protocol.mailbox import (
    HEADER_BYTES,
    MailboxErrorCode,
    MailboxType,
    decode_mailbox,
    encode_mailbox,
    encode_mailbox_error,
)
from humanoid_twin.clock import NEVER, SimulatedTime
from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.esc import ESC_BYTES, Esc
from humanoid_twin.ethercat.esc.sync_manager import MAILBOX_IN, MAILBOX_OUT, SyncManager

_REPEAT: Final = 0x02  # bit of SM1's activate and PDI control bytes
_LONGEST_QUEUE: Final = 256  # messages
_REPEAT_REQUEST: Final = reg.SYNC_MANAGER + reg.SYNC_MANAGER_BYTES + 6
_REPEAT_ANSWER: Final = _REPEAT_REQUEST + 1

# From a CoE payload and the room for an answer [bytes] to the answers. Raises ProtocolError.
Serve = Callable[[bytes, int], Sequence[bytes]]


class Mailbox:
    """Takes requests from SM0, answers into SM1 `delay` later; one request at a time.

    A request with the counter (1 to 7) of the one before is dropped. While the mailbox isn't
    `running`, requests stay in SM0, which is full.
    """

    def __init__(
        self,
        esc: Esc,
        simulated_time: SimulatedTime,
        serve: Serve,
        on_request: Callable[[bytes], None],
    ) -> None:
        """`on_request` is called with the CoE payload of each new message at its arrival."""
        self.delay: float = 0  # [ns] from request to answer; inf: never
        self.running = False
        self._esc, self._simulated_time = esc, simulated_time
        self._serve, self._on_request = serve, on_request
        self._out, self._in = SyncManager(esc, MAILBOX_OUT), SyncManager(esc, MAILBOX_IN)
        esc.on(
            reg.RAM, ESC_BYTES - reg.RAM, before_write=self._may_write, after_write=self._written,
            before_read=self._reading,
        )  # fmt: skip
        esc.on(reg.SYNC_MANAGER, 16, before_read=self._showing, after_write=self._configured)
        self.reset()

    def reset(self) -> None:
        """Empty the buffers, drop the request in work and reset the counters, as after INIT."""
        self._queue: deque[bytes] = deque()
        self._job: tuple[int, bytes] | None = None  # ring time [ns] when it was taken, payload
        self._last = b""
        self._request_counter = self._answer_counter = 0
        self._opened = self._reading_on = self._repeat = False
        self._out.mark(full=False)
        self._in.mark(full=False)

    @property
    def due(self) -> float:
        """Time [ns] from which `work` has a request to answer."""
        return self._job[0] + self.delay if self.running and self._job else NEVER

    def work(self) -> None:
        """Answer the requests that are due."""
        while self.running and self._job and self._simulated_time.now >= self._job[0] + self.delay:
            payload, self._job = self._job[1], None
            self._answer(payload)
            self._take()

    def post(self, payload: bytes, kind: int = MailboxType.COE) -> None:
        """Queue a message for the master; it is lost if too many wait."""
        if len(self._queue) < _LONGEST_QUEUE:
            self._answer_counter = self._answer_counter % 7 + 1
            self._queue.append(encode_mailbox(payload, counter=self._answer_counter, type=kind))
        self._show_next()

    def resume(self) -> None:
        """Run the mailbox again."""
        self.running = True
        self._take()

    def _answer(self, payload: bytes) -> None:
        try:
            answers = self._serve(payload, self._in.length - HEADER_BYTES)
        except ProtocolError:
            error = encode_mailbox_error(MailboxErrorCode.SERVICE_NOT_SUPPORTED)
            self.post(error, MailboxType.ERROR)
            return
        for answer in answers:
            self.post(answer)

    # SM0: the master writes.

    def _may_write(self, address: int, data: bytes) -> bool:
        if self._in.touches(address, len(data)):
            return False
        if not self._out.touches(address, len(data)):
            return True
        return not self._out.full and (self._opened or address <= self._out.start)

    def _written(self, address: int, data: bytes) -> None:
        if not self._out.touches(address, len(data)):
            return
        self._opened = True  # until its last byte is written
        if address + len(data) >= self._out.stop:
            self._opened = False
            self._out.mark(full=True)
            self._take()

    def _take(self) -> None:
        ready = self.running and self._out.full and self._out.holds_messages
        if not ready or self._job:
            return
        raw = bytes(self._esc.memory[self._out.start : self._out.stop])
        self._out.mark(full=False)
        try:
            header, payload = decode_mailbox(raw)
        except ProtocolError:
            self._refuse(MailboxErrorCode.INVALID_SIZE)
            return
        if header.counter and header.counter == self._request_counter:
            return  # repeated because the master missed the acknowledgement
        self._request_counter = header.counter
        if header.type != MailboxType.COE:
            self._refuse(MailboxErrorCode.UNSUPPORTED_PROTOCOL)
            return
        self._job = self._simulated_time.now, payload
        self._on_request(payload)
        self.work()

    def _refuse(self, code: MailboxErrorCode) -> None:
        self.post(encode_mailbox_error(code), MailboxType.ERROR)

    # SM1: the master reads.

    def _reading(self, address: int, length: int) -> bool:
        if self._out.touches(address, length):
            return False
        if not self._in.touches(address, length):
            return True
        self._showing(address, length)
        if not self._in.full or not (self._reading_on or address <= self._in.start):
            return False
        self._reading_on = address + length < self._in.stop
        self._in.mark(full=self._reading_on)  # the bytes stay until the next message is shown
        return True

    def _show_next(self) -> None:
        if self._in.full or not self._queue or not self._in.holds_messages:
            return
        self._last = self._queue.popleft()
        self._show()

    def _show(self) -> None:
        room = self._in.length
        message = self._last[:room].ljust(room, b"\0")
        self._esc.memory[self._in.start : self._in.stop] = message
        self._in.mark(full=True)

    def _showing(self, _address: int, _length: int) -> bool:
        self.work()
        self._show_next()
        return True

    def _configured(self, _address: int, _data: bytes) -> None:
        """Show the last message again if the master has toggled the repeat bit."""
        repeat = bool(self._esc.memory[_REPEAT_REQUEST] & _REPEAT)
        if repeat == self._repeat:
            return
        self._repeat = repeat
        if self._last and self.running and self._in.holds_messages:
            self._show()
        answer = self._esc.memory[_REPEAT_ANSWER] & ~_REPEAT
        self._esc.memory[_REPEAT_ANSWER] = answer | (_REPEAT if repeat else 0)
