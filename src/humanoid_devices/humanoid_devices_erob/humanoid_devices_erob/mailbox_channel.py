"""The mailbox of one slave: one SDO transfer at a time, one datagram per step.

An answer is fetched by reading the whole SM1 at once: an empty one gives no working counter, so
that a poll and a fetch are the same datagram. A datagram without working counter tells nothing
more: mailbox empty or full, or the frame was lost on either way (ETG.1000.4):
* a request that seems not to have arrived is sent again with the same counter, which the slave
  drops if it has it already;
* an answer that may have been lost on its way is asked for again through the repeat request of SM1.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Final

from humanoid_devices_erob.mailbox_port import MailboxLayout, MailboxPort, SdoJob
from humanoid_devices_erob.sdo import SdoOutcome, SdoStatus
from humanoid_devices_erob.sdo_transfer import Download, Transfer, Upload
from humanoid_devices_erob.wire import coe
from humanoid_devices_erob.wire.errors import WireError
from humanoid_devices_erob.wire.mailbox import MailboxType, decode_mailbox, encode_mailbox

SM1_ACTIVATE: Final = 0x080E  # register of the ESC: bit 0 active, bit 1 repeat request
_REPEAT_REQUEST: Final = 0x02

PATIENCE = 0.010  # [s] of silence until a lost answer is suspected; several times the usual delay
_LAST_LOOKS = 16  # messages at most that are fetched after the deadline
_POLLS_PER_DELAY = 32  # an answer is noticed late by at most this share of its own delay
_DELAY_SHRINKS = 0.99  # per answer that was there at the first poll, to find how early it is there


@dataclass(slots=True)
class _Exchange:
    """One request and the wait for its answer. Times in [s]."""

    frame: bytes
    begun: float
    deadline: float
    sent: float  # last attempt
    asked: float  # last attempt, or last request to repeat the answer
    missed: float  # last poll that found nothing
    repeated: bool = False  # the answer was asked for again
    last_looks: int = 0  # after the deadline
    remark: str = ""  # on what came instead of an answer


class MailboxChannel:
    """Jobs of one slave, in their order.

    An answer that comes after its job was given up is passed over unless the next job reads the
    very same object: then it is an old value of it.
    """

    def __init__(
        self,
        slave: int,
        port: MailboxPort,
        layout: MailboxLayout,
        clock: Callable[[], float],
        on_emergency: Callable[[int, coe.Emergency], None],
    ) -> None:
        self.due = inf  # [s] when the next step is worth a datagram
        self._slave, self._port, self._layout, self._clock = slave, port, layout, clock
        self._on_emergency = on_emergency
        self._waiting: deque[SdoJob] = deque()
        self._job: SdoJob | None = None
        self._transfer: Transfer  # of the job
        self._exchange: _Exchange  # of the transfer
        self._action = self._send  # the next datagram of the exchange
        self._delay = 0.0  # [s] this slave is expected to take for an answer
        self.reset()

    def reset(self) -> None:
        """Forget the slave's counters: it was in INIT, or somebody else used its mailbox."""
        self._counter = 0  # the first request's: not checked by the slave
        self._last_answer = 0  # counter of the last answer used

    def submit(self, job: SdoJob) -> None:
        """Append a job."""
        self._waiting.append(job)
        if self._job is None:
            self.due = min(self.due, self._clock())

    def abandon(self, reason: str) -> None:
        """End every job, the one under way included, without a datagram."""
        if self._job is not None:
            self._finish(SdoOutcome(SdoStatus.TIMED_OUT, message=f"given up: {reason}"))
        while self._waiting:
            self._waiting.popleft().done(SdoOutcome(SdoStatus.REFUSED, message=reason))
        self.due = inf

    def step(self) -> bool:
        """Go on; True if that took a datagram."""
        now = self._clock()
        if self._job is not None and now >= self._exchange.deadline:
            self._look_for_the_last_time()
            return True
        if self._job is None and not self._begin(now):
            self.due = inf
            return False
        self._action(now)
        return True

    def _begin(self, now: float) -> bool:
        while self._waiting:
            job = self._waiting.popleft()
            reason = job.refusal()
            if not reason:
                self._job = job
                self._transfer = (
                    Download(job.index, job.subindex, job.data, self._layout.write_size)
                    if job.data
                    else Upload(job.index, job.subindex)
                )
                self._begin_exchange(now, job.timeout)
                return True
            job.done(SdoOutcome(SdoStatus.REFUSED, message=reason))
        return False

    def _begin_exchange(self, now: float, timeout: float) -> None:
        message = encode_mailbox(self._transfer.request.encode(), counter=self._counter)
        self._counter = self._counter % 7 + 1
        frame = message.ljust(self._layout.write_size, b"\0")  # the last byte hands it over
        self._exchange = _Exchange(frame, now, now + timeout, now, now, now)
        self._action = self._send
        self.due = now

    def _finish(self, outcome: SdoOutcome) -> None:
        job, self._job = self._job, None
        self.due = self._clock() if self._waiting else inf
        if job is not None:
            job.done(outcome)  # may submit more

    def _look_for_the_last_time(self) -> None:
        # The master may have been held up longer than the slave: the answer can be there.
        job, exchange = self._job, self._exchange
        exchange.last_looks += 1
        if self._poll() and exchange.last_looks < _LAST_LOOKS:
            return
        if self._job is job and self._exchange is exchange:  # none of what came was the answer
            waited = (exchange.deadline - exchange.begun) * 1e3
            message = f"no answer within {waited:.0f} ms{exchange.remark}"
            self._finish(SdoOutcome(SdoStatus.TIMED_OUT, message=message))

    # The actions: each is one datagram.

    def _send(self, now: float) -> None:
        exchange = self._exchange
        written = self._port.write(self._slave, self._layout.write_address, exchange.frame)
        exchange.sent = exchange.asked = exchange.missed = self._clock()
        if written:
            self._action = self._fetch
            self._wait_until(exchange.sent + self._delay)
        else:  # lost, or the mailbox is full, maybe because something nobody fetched blocks it
            self._action = self._look
            self._wait_until(now)

    def _look(self, now: float) -> None:
        self._action = self._send
        if not self._poll():
            self._wait_until(now + (now - self._exchange.begun) / _POLLS_PER_DELAY)

    def _fetch(self, now: float) -> None:
        if self._poll():
            return
        exchange = self._exchange
        exchange.missed = now
        if now - exchange.asked > max(PATIENCE, 4 * self._delay):
            self._action = self._ask_for_repeat
            self._wait_until(now)
        else:
            self._wait_until(now + (now - exchange.sent) / _POLLS_PER_DELAY)

    def _ask_for_repeat(self, now: float) -> None:
        register = self._port.read(self._slave, SM1_ACTIVATE, 1)
        if register is None:
            self._wait_until(now + PATIENCE / _POLLS_PER_DELAY)
        else:
            toggled = bytes([register[0] ^ _REPEAT_REQUEST])
            self._action = partial(self._repeat, toggled)
            self._wait_until(now)

    def _repeat(self, toggled: bytes, now: float) -> None:
        # If this frame is lost, asking starts again: a second toggle would take the request back.
        self._port.write(self._slave, SM1_ACTIVATE, toggled)
        self._exchange.asked = self._clock()
        self._exchange.repeated = True
        self._action = self._fetch
        self._wait_until(now)

    def _wait_until(self, time: float) -> None:
        self.due = min(time, self._exchange.deadline)

    # What is in the mailbox.

    def _poll(self) -> bool:
        """Fetch a message and use it; False if there is none."""
        data = self._port.read(self._slave, self._layout.read_address, self._layout.read_size)
        if data is None:
            return False
        self._wait_until(self._clock())  # whatever this is, another message may be behind it
        try:
            header, payload = decode_mailbox(data)
            if header.type != MailboxType.COE:
                raise WireError(f"mailbox message of type {header.type}: {payload.hex(' ')}")
            self._use(header.counter, coe.decode_response(payload))
        except WireError as error:
            self._exchange.remark = f"; malformed: {error}"
        return True

    def _use(self, counter: int, response: coe.Response) -> None:
        if isinstance(response, coe.Emergency):
            self._on_emergency(self._slave, response)
            return
        used_already = self._exchange.repeated and 0 != counter == self._last_answer
        if used_already or not self._transfer.take(response):
            self._exchange.remark = f"; there was {response}, which answers something else"
            return
        self._last_answer = counter
        self._learn()
        if self._transfer.outcome is not None:
            self._finish(self._transfer.outcome)
        elif self._job is not None:
            self._begin_exchange(self._clock(), self._job.timeout)

    def _learn(self) -> None:
        exchange = self._exchange
        if exchange.repeated:
            return
        if exchange.missed > exchange.sent:
            # A lower bound on purpose: the poll that found it may have been held up by others.
            self._delay = (exchange.missed - exchange.sent) * (1 + 1 / _POLLS_PER_DELAY)
        else:
            self._delay *= _DELAY_SHRINKS
