"""The mailbox of one slave: one SDO transfer at a time, one datagram after the other.

An answer is fetched by reading the whole SM1: an empty mailbox gives no working counter, so a poll
and a fetch are the same datagram. A missing working counter is ambiguous: mailbox empty or full, or
the frame was lost in either direction (ETG.1000.4):
* a request that seems lost is sent again with the same counter; the slave drops a duplicate;
* an answer that seems lost is requested again through the repeat request of SM1.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

from humanoid_devices_erob.mailbox.late_answers import LateAnswers
from humanoid_devices_erob.mailbox.mailbox_port import Access, MailboxLayout
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoOutcome, SdoStatus
from humanoid_devices_erob.mailbox.sdo_transfer import Download, Transfer, Upload
from humanoid_devices_erob.protocol import coe
from humanoid_devices_erob.protocol.errors import ProtocolError
from humanoid_devices_erob.protocol.frame import DATAGRAM_BYTES
from humanoid_devices_erob.protocol.mailbox import (
    MailboxType,
    decode_mailbox,
    decode_mailbox_error,
    encode_mailbox,
    mailbox_error_name,
)

SM1_ACTIVATE: Final = 0x080E  # register of the ESC: bit 0 active, bit 1 repeat request
_REPEAT_REQUEST: Final = 0x02

ANSWER_TIMEOUT = 0.010  # [s] until a lost answer is suspected; several times the usual delay
_LATE_POLLS = 16  # messages at most that are fetched after the deadline
_POLLS_PER_DELAY = 32  # an answer is found late by at most its delay divided by this
# Timeouts that a whole job may take: in a mailbox of 128 bytes, LONGEST bytes take nine answers.
MOST_TIMEOUTS: Final = 10
_HELD = "; not sent, an earlier reading of the object is still to be answered"
# Part by which the expected delay shrinks when the first poll finds the answer, to learn how early
# it arrives. It doubles with each such answer in a row: lost frames look like a slow slave.
_LEAST_SHRINKING, _MOST_SHRINKING = 0.01, 0.5


@dataclass(frozen=True, slots=True)
class SdoJob:
    """One object to transfer, with the conditions of its requests."""

    target: SdoObject  # written if it has data, else read
    timeout: float  # [s] without an answer until the job is given up
    refusal: Callable[[], str]  # why nothing may be sent now, or ""; called before every sending
    done: Callable[[SdoOutcome], None]  # called once, in the I/O thread


@dataclass(slots=True)
class _Exchange:
    """One request while its answer is pending. Times in [s]."""

    request: Access
    begun: float
    deadline: float
    sent: float  # last attempt
    attempted: float  # last attempt, or last repeat request
    missed: float  # last poll that found nothing
    repeated: bool = False  # the repeat request was used
    late_polls: int = 0  # after the deadline
    remark: str = ""  # on the messages that came instead of an answer


class MailboxChannel:
    """The jobs of one slave, in order.

    Each datagram from `next_datagram` is followed by a call of `take`. An answer that arrives after
    its job was given up is ignored. While an answer is due that could be taken for that of the next
    job, with an old value of its object, that job is not sent.
    """

    def __init__(
        self,
        slave: int,
        layout: MailboxLayout,
        clock: Callable[[], float],
        on_emergency: Callable[[int, coe.Emergency], None],
    ) -> None:
        self.due = inf  # [s] of the next datagram
        self.most_bytes = DATAGRAM_BYTES + max(layout.write_size, layout.read_size)
        self._layout, self._clock = layout, clock
        self._on_emergency = on_emergency
        self._waiting: deque[SdoJob] = deque()
        self._job: SdoJob | None = None
        self._end: float  # [s] of the job at the latest
        self._sent_once: bool  # a request of the job was sent
        self._transfer: Transfer  # of the job
        self._exchange: _Exchange  # of the transfer
        self._access: Access  # the next datagram of the exchange
        self._on_answer: Callable[[bytes | None], None]  # takes its answer
        self._returned_at = 0.0  # [s] when `next_datagram` returned it
        self._read_register = Access(slave, SM1_ACTIVATE, 1)
        self._poll = Access(slave, layout.read_address, layout.read_size)
        self._slave = slave
        self.late = LateAnswers()
        self._delay = 0.0  # [s] this slave is expected to take for an answer
        self._shrinking = _LEAST_SHRINKING
        self.reset()

    def reset(self) -> None:
        """Reset the counters: the slave was in INIT, or another master used its mailbox."""
        self._counter = 0  # of the first request: not checked by the slave
        self._last_message = 0  # counter of the latest message that was fetched
        self.late.clear()

    def submit(self, job: SdoJob) -> None:
        """Append a job."""
        self._waiting.append(job)
        if self._job is None:
            self.due = min(self.due, self._clock())

    def abandon(self, reason: str) -> None:
        """End every job, the present one included, without a datagram."""
        if self._job is not None:
            self._finish(SdoOutcome(SdoStatus.TIMED_OUT, message=f"given up: {reason}"))
        while self._waiting:
            self._waiting.popleft().done(SdoOutcome(SdoStatus.REFUSED, message=reason))
        self.due = inf

    def next_datagram(self) -> Access | None:
        """Return the datagram that is due; None if no job is left."""
        self._returned_at = now = self._clock()
        while self._job is not None or self._begin(now):
            if now >= self._exchange.deadline:
                self._access, self._on_answer = self._poll, self._polled_after_deadline
            if self._access is not self._exchange.request or self._permitted(self._job):
                return self._access
        self.due = inf
        return None

    def take(self, answer: bytes | None) -> None:
        """Evaluate the answer to the datagram from `next_datagram`; None: no working counter."""
        self._on_answer(answer)

    def _begin(self, now: float) -> bool:
        if not self._waiting:
            return False
        self._job = job = self._waiting.popleft()
        self._sent_once = False
        target = job.target
        self._transfer = (
            Download(target, self._layout.write_size) if target.data else Upload(target)
        )
        self._end = now + MOST_TIMEOUTS * job.timeout
        self._begin_exchange(now, job.timeout)
        if self.late.hold(target, now):
            self._exchange.remark = _HELD
            self._plan(self._poll, self._drained, now)
        return True

    def _begin_exchange(self, now: float, timeout: float) -> None:
        message = encode_mailbox(self._transfer.request.encode(), counter=self._counter)
        self._counter = self._counter % 7 + 1
        frame = message.ljust(self._layout.write_size, b"\0")  # the last byte hands it over
        request = Access(self._slave, self._layout.write_address, data=frame)
        self._exchange = _Exchange(request, now, min(now + timeout, self._end), now, now, now)
        self._plan_request(now)

    def _permitted(self, job: SdoJob | None) -> bool:
        """Return whether a request may be sent now; if not, end its job."""
        reason = "" if job is None else job.refusal()
        if not reason:
            self._sent_once = True
        elif self._sent_once:  # an earlier attempt or segment may have arrived
            message = f"given up after it was sent, its effect is not known: {reason}"
            self._finish(SdoOutcome(SdoStatus.TIMED_OUT, message=message))
        else:
            self._finish(SdoOutcome(SdoStatus.REFUSED, message=reason))
        return not reason

    def _finish(self, outcome: SdoOutcome) -> None:
        job, self._job = self._job, None
        if job is not None and self._sent_once and outcome.status is SdoStatus.TIMED_OUT:
            self.late.given_up(job.target, self._clock())
        self.due = self._clock() if self._waiting else inf
        if job is not None:
            job.done(outcome)  # may submit another job

    # One method for each kind of datagram takes its answer.

    def _drained(self, answer: bytes | None) -> None:
        """Take a poll before the request is sent."""
        job, exchange, now = self._job, self._exchange, self._returned_at
        if answer is not None:
            exchange.attempted = now
        self._handle_message(answer)
        if job is not None and not self.late.hold(job.target, now, now - exchange.attempted):
            exchange.begun, exchange.remark = now, ""
            self._plan_request(now)
        else:
            wait = 0.0 if answer is not None else max(ANSWER_TIMEOUT, now - exchange.begun)
            self._plan(self._poll, self._drained, now + wait / _POLLS_PER_DELAY)

    def _sent(self, answer: bytes | None) -> None:
        exchange = self._exchange
        exchange.sent = exchange.attempted = exchange.missed = self._clock()
        if answer is not None:
            self._plan(self._poll, self._fetched, exchange.sent + self._delay)
        else:  # lost, or the mailbox is full, maybe because SM1 was never emptied
            self._plan(self._poll, self._polled_before_retry, exchange.sent)

    def _polled_before_retry(self, answer: bytes | None) -> None:
        now = self._returned_at
        waited = 0.0 if answer is not None else now - self._exchange.begun
        self._plan_request(now + waited / _POLLS_PER_DELAY)
        self._handle_message(answer)

    def _fetched(self, answer: bytes | None) -> None:
        exchange, now = self._exchange, self._returned_at
        if answer is not None:
            self._plan(self._poll, self._fetched, now)  # another message may follow
            self._handle_message(answer)
            return
        exchange.missed = now
        if now - exchange.attempted > max(ANSWER_TIMEOUT, 4 * self._delay):
            self._plan(self._read_register, self._got_register, now)
        else:
            self._plan(self._poll, self._fetched, now + (now - exchange.sent) / _POLLS_PER_DELAY)

    def _got_register(self, answer: bytes | None) -> None:
        if answer is None:
            later = self._returned_at + ANSWER_TIMEOUT / _POLLS_PER_DELAY
            self._plan(self._read_register, self._got_register, later)
            return
        toggled = bytes([answer[0] ^ _REPEAT_REQUEST])
        write = Access(self._slave, SM1_ACTIVATE, data=toggled)
        self._plan(write, self._repeat_requested, self._returned_at)

    def _repeat_requested(self, _: bytes | None) -> None:
        # If this frame is lost, the sequence starts again: a second toggle would undo the request.
        self._exchange.attempted = self._clock()
        self._exchange.repeated = True
        self._plan(self._poll, self._fetched, self._returned_at)

    def _polled_after_deadline(self, answer: bytes | None) -> None:
        # The master may have been held up: the answer can be in the mailbox.
        job, exchange = self._job, self._exchange
        exchange.late_polls += 1
        self._handle_message(answer)
        if answer is not None and exchange.late_polls < _LATE_POLLS:
            return
        if self._job is job and self._exchange is exchange:  # no message was the answer
            waited = (exchange.deadline - exchange.begun) * 1e3
            message = f"no answer within {waited:.0f} ms{exchange.remark}"
            if job is not None and exchange.deadline >= self._end:
                message = f"not complete after {MOST_TIMEOUTS * job.timeout:g} s{exchange.remark}"
            self._finish(SdoOutcome(SdoStatus.TIMED_OUT, message=message))

    def _plan(self, access: Access, then: Callable[[bytes | None], None], due: float) -> None:
        self._access, self._on_answer = access, then
        self.due = min(due, self._exchange.deadline)

    def _plan_request(self, due: float) -> None:
        self._plan(self._exchange.request, self._sent, due)

    # Messages from the mailbox.

    def _handle_message(self, message: bytes | None) -> None:
        if message is None:
            return
        try:
            header, payload = decode_mailbox(message)
            if header.type == MailboxType.ERROR:
                error = mailbox_error_name(decode_mailbox_error(payload))
                self._exchange.remark = f"; the slave rejected a message: mailbox error {error}"
                return
            if header.type != MailboxType.COE:
                raise ProtocolError(f"mailbox message of type {header.type}: {payload.hex(' ')}")
            again = self._exchange.repeated and 0 != header.counter == self._last_message
            self._last_message = header.counter
            if not again:
                self._handle_response(coe.decode_response(payload))
        except ProtocolError as error:
            self._exchange.remark = f"; malformed: {error}"

    def _handle_response(self, response: coe.Response) -> None:
        if isinstance(response, coe.Emergency):
            self._on_emergency(self._slave, response)
            return
        if not self._sent_once or not self._transfer.take(response):
            self.late.passed_over(response)
            if self._sent_once:
                self._exchange.remark = f"; there was {response}, which answers something else"
            return
        self.late.answered(response)
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
            # A lower bound: other slaves' datagrams may have delayed the poll that found it.
            self._delay = (exchange.missed - exchange.sent) * (1 + 1 / _POLLS_PER_DELAY)
            self._shrinking = _LEAST_SHRINKING
        else:
            self._delay *= 1.0 - self._shrinking
            self._shrinking = min(2.0 * self._shrinking, _MOST_SHRINKING)
