"""Batches of SDO objects: written and read back, or read, each object checked before it is sent."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from math import inf
from typing import Final, TypeAlias

from humanoid_devices_erob.mailbox_engine import MailboxEngine
from humanoid_devices_erob.sdo import SdoBatch, SdoResult, SdoStatus
from humanoid_devices_erob.slave_batch import BatchRules, Refusal, SlaveBatch

Results: TypeAlias = tuple[SdoResult, ...]

# [s] without an answer until an object is given up. In operation an answer that takes longer could
# confirm no impedance in time; nor may a drive that hangs hold up what softens it for long. Where
# no loop waits, in PREOP and at the exit: mailboxes are commonly allowed 2 s (ESI files).
PROMPT: Final = 0.1
PATIENT: Final = 2.5


class SdoBatches:
    """Runs batches on an engine. `submit` is for any thread, the rest for the one that does I/O."""

    def __init__(
        self,
        engine: MailboxEngine,
        clock: Callable[[], float],
        refusal: Refusal,
        wake: Callable[[], None],
        patience: Callable[[], float] = lambda: PROMPT,
    ) -> None:
        """`refusal(slave, batch)`: why `slave` may not be sent an object of `batch` now, or "".

        It is asked in the I/O thread just before each object. For reading, and for reading back
        what was written, the batch it gets has `write` false. The batch's `valid_until` is looked
        after here. `wake` is called after each submission, by the thread that submits. `patience`:
        PROMPT or PATIENT, whichever the present phase allows.
        """
        self._rules = BatchRules(engine, clock, refusal, patience)
        self._wake = wake
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
        """When [s] the next `step` has something to do; infinite if it has nothing."""
        return -inf if self._inbox else self._rules.engine.next_due

    def step(self) -> bool:
        """Take up the next batch, then one datagram; False if none is worth it now."""
        if self._inbox:
            self._take_up()
        return self._rules.engine.step()

    def abandon(self, reason: str) -> None:
        """End every batch without another datagram."""
        while self._inbox:
            self._take_up()
        self._rules.engine.abandon(reason)

    def _take_up(self) -> None:
        _Run(self._rules, *self._inbox.popleft()).begin()


def refused(batch: SdoBatch, reason: str) -> Future[Results]:
    """What `submit` would return if nothing of `batch` was sent, done already."""
    future: Future[Results] = Future()
    future.set_result(
        tuple(SdoResult(it, SdoStatus.REFUSED, message=reason) for it in batch.objects)
    )
    return future


class _Run:
    """One batch under way."""

    def __init__(self, rules: BatchRules, batch: SdoBatch, future: Future[Results]) -> None:
        self._future = future
        self._results: dict[int, SdoResult] = {}
        self._count = len(batch.objects)
        self._parts: list[SlaveBatch] = []
        positions: dict[int, list[int]] = {}
        for position, target in enumerate(batch.objects):
            positions.setdefault(target.slave, []).append(position)
        for slave, places in positions.items():
            objects = [batch.objects[place] for place in places]
            if slave < rules.engine.slave_count:
                finished = partial(self._slave_finished, places)
                self._parts.append(SlaveBatch(rules, batch, objects, finished))
            else:
                message = f"no such slave: there are {rules.engine.slave_count}"
                refused = [SdoResult(it, SdoStatus.REFUSED, message=message) for it in objects]
                self._results.update(zip(places, refused, strict=True))

    def begin(self) -> None:
        """Start all slaves."""
        for part in self._parts:
            part.begin()
        self._finish_if_complete()

    def _slave_finished(self, places: Sequence[int], results: Sequence[SdoResult]) -> None:
        self._results.update(zip(places, results, strict=True))
        self._finish_if_complete()

    def _finish_if_complete(self) -> None:
        if len(self._results) == self._count and not self._future.done():
            self._future.set_result(tuple(self._results[place] for place in range(self._count)))
