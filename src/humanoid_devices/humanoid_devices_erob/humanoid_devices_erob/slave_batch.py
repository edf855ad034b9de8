"""One slave's part of a batch: its objects in their order, then what was written read back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import TypeAlias

from humanoid_devices_erob.mailbox_engine import MailboxEngine, SdoJob
from humanoid_devices_erob.sdo import SdoBatch, SdoObject, SdoOutcome, SdoResult, SdoStatus

Refusal: TypeAlias = Callable[[int, SdoBatch], str]


@dataclass(frozen=True, slots=True)
class BatchRules:
    """What all batches of a system have in common."""

    engine: MailboxEngine
    clock: Callable[[], float]  # monotonic [s]
    refusal: Refusal
    patience: Callable[[], float]  # [s] with the next object


class SlaveBatch:
    """Runs on the engine's thread, from `begin` until it calls `finished`.

    A write that fails ends the writing: the order of the others is only safe after it.
    """

    def __init__(
        self,
        rules: BatchRules,
        batch: SdoBatch,
        objects: Sequence[SdoObject],
        finished: Callable[[Sequence[SdoResult]], None],
    ) -> None:
        """`objects`: those of `batch` for this slave, at least one; results are in their order."""
        self._rules, self._batch, self._objects = rules, batch, objects
        self._slave = objects[0].slave
        self._reading = replace(batch, write=False, valid_until=inf)
        self._finished = finished
        self._outcomes: list[SdoOutcome] = []  # of the objects, as far as they got
        self._read_back: dict[tuple[int, int], SdoOutcome] = {}
        self._written: dict[tuple[int, int], SdoObject] = {}  # with the value that counts
        self._unread: dict[tuple[int, int], SdoObject] = {}

    def begin(self) -> None:
        """Submit the first object."""
        if self._batch.write:
            self._write_next()
        else:
            self._read_next()

    def _submit(
        self, aim: SdoObject, data: bytes, batch: SdoBatch, done: Callable[[SdoOutcome], None]
    ) -> None:
        job = SdoJob(
            index=aim.index,
            subindex=aim.subindex,
            data=data,
            timeout=self._rules.patience(),
            refusal=partial(self._refusal, batch),
            done=done,
        )
        self._rules.engine.submit(self._slave, job)

    def _refusal(self, batch: SdoBatch) -> str:
        late = self._rules.clock() - batch.valid_until
        if late > 0:
            return f"its permission ended {late * 1e3:.1f} ms ago"
        return self._rules.refusal(self._slave, batch)

    # Reading.

    def _read_next(self) -> None:
        position = len(self._outcomes)
        if position < len(self._objects):
            self._submit(self._objects[position], b"", self._reading, self._has_read)
        else:
            self._finished([self._as_read(*pair) for pair in self._paired()])

    def _has_read(self, outcome: SdoOutcome) -> None:
        self._outcomes.append(outcome)
        if outcome.status is SdoStatus.REFUSED:  # and so would be the others, all in one moment
            self._outcomes += [outcome] * (len(self._objects) - len(self._outcomes))
        self._read_next()

    def _paired(self) -> list[tuple[SdoObject, SdoOutcome]]:
        return list(zip(self._objects, self._outcomes, strict=True))

    @staticmethod
    def _as_read(asked: SdoObject, outcome: SdoOutcome) -> SdoResult:
        found = replace(asked, data=outcome.data)
        return SdoResult(found, outcome.status, outcome.abort_code, outcome.message)

    # Writing.

    def _write_next(self) -> None:
        position = len(self._outcomes)
        if position == len(self._objects):
            self._written = dict(self._unread)
            self._read_back_next()
        elif not self._objects[position].data:
            self._has_written(SdoOutcome(SdoStatus.REFUSED, message="there is nothing to write"))
        else:
            target = self._objects[position]
            self._submit(target, target.data, self._batch, self._has_written)

    def _has_written(self, outcome: SdoOutcome) -> None:
        target = self._objects[len(self._outcomes)]
        self._outcomes.append(outcome)
        if outcome.status is SdoStatus.DONE:
            self._unread[target.index, target.subindex] = target
        else:
            message = f"not sent after {target} failed: {outcome.message}"
            rest = len(self._objects) - len(self._outcomes)
            self._outcomes += [SdoOutcome(SdoStatus.REFUSED, message=message)] * rest
        self._write_next()

    def _read_back_next(self) -> None:
        if not self._unread:
            self._finished([self._as_written(*pair) for pair in self._paired()])
            return
        key = next(iter(self._unread))
        target = self._unread.pop(key)
        self._submit(target, b"", self._reading, partial(self._has_read_back, key))

    def _has_read_back(self, key: tuple[int, int], outcome: SdoOutcome) -> None:
        self._read_back[key] = outcome
        self._read_back_next()

    def _as_written(self, target: SdoObject, written: SdoOutcome) -> SdoResult:
        if written.status is not SdoStatus.DONE:
            return SdoResult(target, written.status, written.abort_code, written.message)
        key = (target.index, target.subindex)
        found = self._read_back[key]
        if found.status is not SdoStatus.DONE:
            message = f"written, but not read back: {found.message}"
            refused = found.status is SdoStatus.REFUSED  # the reading: the write was sent
            status = SdoStatus.TIMED_OUT if refused else found.status
            return SdoResult(target, status, found.abort_code, message)
        wanted = self._written[key].data  # of what is written twice, the second value counts
        result = replace(target, data=found.data)
        if found.data == wanted:
            return SdoResult(result, SdoStatus.DONE)
        message = f"written as {wanted.hex(' ')}, reads back as {found.data.hex(' ')}"
        return SdoResult(result, SdoStatus.DIFFERENT, message=message)
