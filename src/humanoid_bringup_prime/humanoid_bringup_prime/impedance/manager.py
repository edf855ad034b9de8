"""The impedance manager itself: which SDO is due, and what is true of the drives. No ROS, no I/O.

Every call says what time it is [s, monotonic].
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import Final

from humanoid_bringup_prime.impedance.announcer import Announcer, brief
from humanoid_bringup_prime.impedance.drives import Drives, ModeTable
from humanoid_bringup_prime.impedance.record import DriveRecord
from humanoid_bringup_prime.impedance.values import Batch, Reply, Summary, Wish
from humanoid_devices_erob.joint_states_gate import JointStatesGate
from humanoid_devices_erob.sdo import SdoObject, SdoStatus

logger = logging.getLogger(__name__)

AUDIT_PERIOD: Final = 1.0  # [s] all registers are read again: a drive may have restarted
AUDIT_SHARE: Final = 10  # of which reading takes one part at most
SUPERSEDED_LIMIT: Final = 0.03  # [s] a batch may hold its drives back after a newer wish
FORGET_AFTER: Final = 1.0  # [s] of a closed gate: the control process may have been restarted


class ImpedanceManager:
    """Keeps the wish, and works off what the drives lack of it while the gate is open.

    A drive has at most one batch under way, so a dead one delays no other.

    Args:
        table: registers of every mode, one entry per drive.
        parallel: all drives at once; else one after another in ring order.
        patience: a batch without answer for so long [s] is given up.
    """

    def __init__(
        self,
        drives: Drives,
        table: ModeTable,
        gate: JointStatesGate,
        *,
        parallel: bool,
        patience: float,
    ) -> None:
        pairs = zip(drives.joint_names, drives.ring_positions, strict=True)
        self._records = [DriveRecord(joint, slave) for joint, slave in pairs]
        self._table = table
        self._gate = gate
        self._parallel = parallel
        self._patience = patience
        self._wish: Wish | None = None
        self._wished = 0.0
        self._under_way: list[Batch] = []
        self._obstacle = ""
        self._audit_due = 0.0
        self._announcer = Announcer()

    # What happens.

    def stated(self, wish: Wish, now: float) -> None:
        """`wish` is in force."""
        if wish == self._wish:
            return
        if self._wish is not None and wish.number < self._wish.number:
            logger.warning("switch numbers start again: the control process was restarted")
            self._forget()
        self._wish, self._wished = wish, now
        for record in self._records:
            record.try_now()

    def joints_seen(self, names: list[str], positions: list[float], now: float) -> None:
        """A message of /prime/joint_states arrived."""
        closed = self._gate.seen(names, positions, now)
        if closed > FORGET_AFTER:
            self._forget()
        elif closed > 0.0:
            self._audit(now)

    def finished(self, batch: Batch, reply: Reply, now: float) -> None:
        """A batch was answered. One that was given up before is ignored."""
        if batch not in self._under_way:
            return
        self._under_way.remove(batch)
        self._audit_due = max(self._audit_due, now + AUDIT_SHARE * (now - batch.sent))
        if len(reply.results) != len(batch.objects):
            failure = reply.failure or (
                f"{len(reply.results)} results for {len(batch.objects)} objects"
            )
            self._give_up(batch, failure, now)
            return
        failed = []
        for record in self._of(batch):
            results = [r for r in reply.results if r.object.slave == record.slave]
            refused = any(r.status is SdoStatus.REFUSED for r in results)
            if refused and batch.wish != self._wish:
                record.forget()  # overtaken by a newer wish: no failure
            elif not record.take(results, now, write=batch.write):
                failed.append(record)
        self._announcer.failed(failed)
        self._note_progress(now)

    # What to do.

    def next_batches(self, now: float, obstacle: str = "") -> list[Batch]:
        """What is to be sent now. `obstacle`: why nothing can be, empty if it can."""
        self._obstacle = obstacle
        if obstacle:
            self._under_way.clear()
            self._forget()
            return []
        self._clear_under_way(now)
        if self._wish is None or self._gate.obstacle(now):
            return []
        if now >= self._audit_due:
            self._audit(now)
        self._note_progress(now)
        writes, reads = self._due(self._wish, now)
        return [
            self._begin(self._wish, objects, write, now)
            for objects, write in ((writes, True), (reads, False))
            if objects
        ]

    # What is true.

    def summary(self, now: float) -> Summary:
        """What is known at `now`."""
        return Summary(
            gate_open=not self._gate.obstacle(now),
            armed=self._armed,
            confirmed=self._holds_wish(),
            wish=self._wish,
            registers=tuple(record.row for record in self._records),
            message=self._message(now),
        )

    # Inside.

    @property
    def _armed(self) -> bool:
        return all(record.armed for record in self._records)

    def _holds_wish(self) -> bool:
        if self._wish is None:
            return False
        wanted = self._table[self._wish.mode]
        return all(r.holds(w) for r, w in zip(self._records, wanted, strict=True))

    def _message(self, now: float) -> str:
        if self._wish is None:
            return "waiting for a statement on /control_mode"
        if waiting := self._gate.obstacle(now) or self._obstacle:
            return waiting
        if self._holds_wish():
            return ""
        failures = [record.failure for record in self._records if record.failure]
        if failures:
            return brief(failures)
        return f"{'writing' if self._armed else 'arming with'} the gains of {self._wish.mode.name}"

    def _due(self, wish: Wish, now: float) -> tuple[list[SdoObject], list[SdoObject]]:
        """What has to be written and what has to be read, of drives without a batch."""
        writes: list[SdoObject] = []
        reads: list[SdoObject] = []
        busy = {slave for batch in self._under_way for slave in batch.slaves}
        for record, wanted in zip(self._records, self._table[wish.mode], strict=True):
            if not self._parallel and (busy or writes or reads):
                break
            if record.slave not in busy:
                objects, write = record.due(wanted, now)
                (writes if write else reads).extend(objects)
                if write and not record.armed:
                    self._announcer.arming(wish)
        return writes, reads

    def _begin(self, wish: Wish, objects: list[SdoObject], write: bool, now: float) -> Batch:
        batch = Batch(wish, write, tuple(objects), now, self._gate.closes)
        self._under_way.append(batch)
        if write:
            for record in self._of(batch):
                record.begin_writing(item for item in objects if item.slave == record.slave)
        return batch

    def _clear_under_way(self, now: float) -> None:
        """Give up batches that are not worth waiting for."""
        for batch in list(self._under_way):
            if now - batch.sent > self._patience:
                self._under_way.remove(batch)
                self._give_up(batch, f"no answer within {self._patience:g} s", now)
            elif batch.wish != self._wish and now - self._wished > SUPERSEDED_LIMIT:
                # The drives refuse what is left of it; one that doesn't answer must not hold up
                # the others. What it has changed is read again.
                self._under_way.remove(batch)
                for record in self._of(batch):
                    record.forget()

    def _give_up(self, batch: Batch, reason: str, now: float) -> None:
        for record in self._of(batch):
            record.forget()
            record.fail(reason, now)
        self._announcer.failed(self._of(batch))

    def _of(self, batch: Batch) -> Iterator[DriveRecord]:
        return (record for record in self._records if record.slave in batch.slaves)

    def _forget(self) -> None:
        for record in self._records:
            record.forget()

    def _audit(self, now: float) -> None:
        """Have everything read again, when there is time for it."""
        self._audit_due = now + AUDIT_PERIOD
        for record in self._records:
            record.doubtful = True

    def _note_progress(self, now: float) -> None:
        if self._wish is not None and self._holds_wish():
            self._announcer.confirmed(self._wish, len(self._records), now - self._wished)
