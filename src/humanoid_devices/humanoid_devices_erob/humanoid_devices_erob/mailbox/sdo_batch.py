"""Batches of SDO objects: written and read back, or read; each object is checked before it is sent.

A generator per slave yields one transfer after the other and receives its outcome.
"""

from collections import deque
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from math import inf
from typing import Final, TypeAlias

from humanoid_devices_erob.mailbox.mailbox_channel import SdoJob
from humanoid_devices_erob.mailbox.mailbox_engine import MailboxEngine
from humanoid_devices_erob.mailbox.sdo import (
    Key,
    SdoBatch,
    SdoObject,
    SdoOutcome,
    SdoResult,
    SdoStatus,
)

Results: TypeAlias = tuple[SdoResult, ...]
# Yields the object of a transfer (written if it has data) and the batch that must be permitted.
Transfers: TypeAlias = Generator[tuple[SdoObject, SdoBatch], SdoOutcome, list[SdoResult]]

# [s] without an answer until an object is given up. SHORT_TIMEOUT is for operation: a later answer
# could confirm no impedance in time, and a drive that hangs must not delay its own softening.
# LONG_TIMEOUT is for PREOP and the exit, where no loop waits: mailboxes are commonly allowed 2 s
# (ESI files).
SHORT_TIMEOUT: Final = 0.1
LONG_TIMEOUT: Final = 2.5


def permit_all(slave: int, batch: SdoBatch) -> str:
    """Refuse nothing. See `SdoBatches.refusal`."""
    return ""


def ignore_end(target: SdoObject, outcome: SdoOutcome) -> None:
    """Do nothing. See `SdoBatches.ended`."""


class SdoBatches:
    """Runs batches on an engine. Any thread may `submit`; the rest belongs to the I/O thread.

    Attributes:
        refusal: called as `refusal(slave, batch)` in the I/O thread just before each object is
            sent; returns why it must not be, or "". For reading, and for reading back what was
            written, `batch.write` is false. `valid_until` is checked here.
        timeout: [s] for the next object, SHORT_TIMEOUT or LONG_TIMEOUT.
        ended: called as `ended(target, outcome)` in the I/O thread when a transfer has ended, a
            write if `target` has data. Batches overlap: the values that a slow batch has read are
            old when its future is done.
    """

    def __init__(
        self, engine: MailboxEngine, clock: Callable[[], float], wake: Callable[[], None]
    ) -> None:
        """`wake` is called after each submission, by the thread that submits."""
        self.refusal: Callable[[int, SdoBatch], str] = permit_all
        self.timeout = LONG_TIMEOUT
        self.ended: Callable[[SdoObject, SdoOutcome], None] = ignore_end
        self._engine, self._clock, self._wake = engine, clock, wake
        self._inbox: deque[tuple[SdoBatch, Future[Results]]] = deque()

    def submit(self, batch: SdoBatch) -> Future[Results]:
        """Begin `batch` soon. One result per object, in their order; the future never fails.

        Its callbacks run in the I/O thread: they must be short.
        """
        future: Future[Results] = Future()
        future.set_running_or_notify_cancel()  # from here on it can't be cancelled
        self._inbox.append((batch, future))
        self._wake()
        return future

    @property
    def next_due(self) -> float:
        """Return when [s] the next `step` has something to do; infinite if never."""
        return -inf if self._inbox else self._engine.next_due

    def step(self, until: float = inf) -> bool:
        """Take up the next batch, then exchange one frame; see MailboxEngine.step."""
        if self._inbox:
            self._take_up()
        return self._engine.step(until)

    def abandon(self, reason: str) -> None:
        """End every batch without another datagram."""
        while self._inbox:
            self._take_up()
        self._engine.abandon(reason)

    def _take_up(self) -> None:
        batch, future = self._inbox.popleft()
        found: dict[int, SdoResult] = {}
        places: dict[int, list[int]] = {}
        for place, target in enumerate(batch.objects):
            places.setdefault(target.slave, []).append(place)

        def finished(slave: int, results: Sequence[SdoResult]) -> None:
            found.update(zip(places[slave], results, strict=True))
            if len(found) == len(batch.objects):
                future.set_result(tuple(found[place] for place in range(len(found))))

        if not batch.objects:
            future.set_result(())
        for slave, own in places.items():
            self._run(slave, batch, [batch.objects[place] for place in own], finished)

    def _run(
        self,
        slave: int,
        batch: SdoBatch,
        objects: Sequence[SdoObject],
        finished: Callable[[int, Sequence[SdoResult]], None],
    ) -> None:
        if slave >= self._engine.slave_count:
            message = f"no such slave: there are {self._engine.slave_count}"
            finished(slave, refusals(objects, message))
            return
        reading = replace(batch, write=False, valid_until=inf)
        transfers = _written(objects, batch, reading) if batch.write else _read(objects, reading)
        self._advance(slave, transfers, finished, None)

    def _advance(
        self,
        slave: int,
        transfers: Transfers,
        finished: Callable[[int, Sequence[SdoResult]], None],
        outcome: SdoOutcome | None,
    ) -> None:
        """Take the outcome of a slave's latest transfer; begin its next one.

        Each transfer has a job of its own: a callback that refers to itself would stay in memory
        until the next full garbage collection.
        """
        try:
            target, of = next(transfers) if outcome is None else transfers.send(outcome)
        except StopIteration as end:
            finished(slave, end.value)
            return
        refusal = partial(self._refusal, slave, of)
        then = partial(self._end, slave, transfers, finished, target)
        self._engine.submit(slave, SdoJob(target, self.timeout, refusal, then))

    def _end(
        self,
        slave: int,
        transfers: Transfers,
        finished: Callable[[int, Sequence[SdoResult]], None],
        target: SdoObject,
        outcome: SdoOutcome,
    ) -> None:
        self.ended(target, outcome)
        self._advance(slave, transfers, finished, outcome)

    def _refusal(self, slave: int, batch: SdoBatch) -> str:
        late = self._clock() - batch.valid_until
        if late > 0:
            return f"its permission ended {late * 1e3:.1f} ms ago"
        return self.refusal(slave, batch)


def refusals(objects: Sequence[SdoObject], reason: str) -> Results:
    """Return the results of `objects` when none of them is sent."""
    return tuple(SdoResult(target, SdoStatus.REFUSED, message=reason) for target in objects)


def refused(batch: SdoBatch, reason: str) -> Future[Results]:
    """Return what `submit` would return for a batch that is refused as a whole; it is done."""
    future: Future[Results] = Future()
    future.set_result(refusals(batch.objects, reason))
    return future


def _read(objects: Sequence[SdoObject], reading: SdoBatch) -> Transfers:
    results: list[SdoResult] = []
    for place, target in enumerate(objects):
        outcome = yield replace(target, data=b""), reading
        results.append(_result(replace(target, data=outcome.data), outcome))
        if outcome.status is SdoStatus.REFUSED:  # the others would be refused at the same moment
            return [*results, *refusals(objects[place + 1 :], outcome.message)]
    return results


def _written(objects: Sequence[SdoObject], batch: SdoBatch, reading: SdoBatch) -> Transfers:
    """Write the objects in their order, then read back each one that was written.

    A write that fails ends the writing: the order may be what makes the later writes safe.
    """
    results: list[SdoResult] = []
    written: dict[Key, SdoObject] = {}  # of an object that is written twice, the second value
    for place, target in enumerate(objects):
        if target.data:
            outcome = yield target, batch
        else:
            outcome = SdoOutcome(SdoStatus.REFUSED, message="there is nothing to write")
        results.append(_result(target, outcome))
        if outcome.status is not SdoStatus.DONE:
            message = f"not sent after {target} failed: {outcome.message}"
            results += refusals(objects[place + 1 :], message)
            break
        written[target.key] = target
    found: dict[Key, SdoOutcome] = {}
    for key, target in written.items():
        found[key] = yield replace(target, data=b""), reading
    return [
        _compared(it.object, written[it.object.key].data, found[it.object.key])
        if it.status is SdoStatus.DONE
        else it
        for it in results
    ]


def _compared(target: SdoObject, wanted: bytes, found: SdoOutcome) -> SdoResult:
    """Return the result of a write by the outcome of its read-back."""
    if found.status is not SdoStatus.DONE:
        message = f"written, but not read back: {found.message}"
        refused = found.status is SdoStatus.REFUSED  # only the reading: the write was sent
        status = SdoStatus.TIMED_OUT if refused else found.status
        return SdoResult(target, status, found.abort_code, message)
    result = replace(target, data=found.data)
    if found.data == wanted:
        return SdoResult(result, SdoStatus.DONE)
    message = f"written as {wanted.hex(' ')}, reads back as {found.data.hex(' ')}"
    return SdoResult(result, SdoStatus.DIFFERENT, message=message)


def _result(target: SdoObject, outcome: SdoOutcome) -> SdoResult:
    return SdoResult(target, outcome.status, outcome.abort_code, outcome.message)
