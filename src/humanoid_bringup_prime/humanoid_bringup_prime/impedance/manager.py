"""The impedance manager without ROS and I/O: the due SDO batches, and the state of the drives.

Every call passes the time [s, monotonic].
"""

import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from humanoid_bringup_prime.impedance.register_record import QUICK_RETRIES, DriveRecord
from humanoid_devices_erob.impedance.drives import Drives, ModeTable
from humanoid_devices_erob.impedance.values import Batch, ModeInForce, Reply, Summary
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoStatus
from humanoid_devices_erob.operation.joint_states_gate import FORGET_AFTER, JointStatesGate

logger = logging.getLogger(__name__)

AUDIT_PERIOD: Final = 1.0  # [s] between two reads of all registers: a drive may have restarted
AUDIT_SHARE: Final = 10  # reading takes at most one part in so many of the time
SUPERSEDED_LIMIT: Final = 0.03  # [s] that a batch may delay the gains of a newer mode
MOST_NAMED: Final = 2  # drives whose failures are logged in full


class ImpedanceManager:
    """Writes the gains of the mode in force to the drives while the gate is open.

    A drive has at most one batch under way. A drive that did not answer in time gets batches of its
    own, so that it delays no other drive.

    Args:
        table: registers of every mode, one entry per drive.
        parallel: all drives at once; else one after another in the order of the joints.
        timeout: [s] until a batch without answer is given up.
    """

    def __init__(
        self,
        drives: Drives,
        table: ModeTable,
        gate: JointStatesGate,
        *,
        parallel: bool,
        timeout: float,
    ) -> None:
        pairs = zip(drives.joint_names, drives.ring_positions, strict=True)
        self._records = [DriveRecord(joint, slave) for joint, slave in pairs]
        self._table = table
        self._gate = gate
        self._parallel = parallel
        self._timeout = timeout
        self._in_force: ModeInForce | None = None
        self._in_force_since = 0.0
        self._under_way: list[Batch] = []
        self._obstacle = ""
        self._audit_due = 0.0
        self._settled = False  # at the latest look: gate open, gains held, nothing to read
        self._gain_log = GainLog()

    # Events.

    def stated(self, in_force: ModeInForce, now: float) -> bool:
        """Take the mode in force; return whether it is new, or its gains are not settled."""
        if in_force == self._in_force:
            return not self._settled
        if self._in_force is not None and in_force.number < self._in_force.number:
            logger.warning("switch numbers start again: the control process was restarted")
            self._forget()
        self._in_force, self._in_force_since = in_force, now
        for record in self._records:
            record.try_now()
        return True

    def joints_seen(self, names: list[str], positions: list[float], arrival: float) -> None:
        """Take a message of /prime/joint_states that arrived at `arrival`."""
        closed = self._gate.seen(names, positions, arrival)
        if closed > FORGET_AFTER:
            self._forget()
        elif closed > 0.0:
            self._audit(arrival)

    def finished(self, batch: Batch, reply: Reply, now: float) -> None:
        """Take the answer to a batch; ignore it if the batch was given up before."""
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
            if refused and batch.in_force != self._in_force:  # superseded: no failure
                record.not_learned(now, write=batch.write)
            elif not record.take(results, now, write=batch.write):
                failed.append(record)
        self._gain_log.failed(failed)
        self._note_progress(now)

    # Actions.

    def next_batches(self, now: float, obstacle: str = "") -> list[Batch]:
        """Return the batches to send now. `obstacle`: why none can be sent; empty if it can."""
        self._obstacle, self._settled = obstacle, False
        if obstacle:
            self._under_way.clear()
            self._forget()
            return []
        self._clear_under_way(now)
        if self._in_force is None or self._gate.obstacle(now):
            return []
        if now >= self._audit_due:
            self._audit(now)
        self._note_progress(now)
        batches = [
            self._begin(self._in_force, objects, write, now)
            for objects, write in self._due(self._in_force, now)
        ]
        self._settled = self._all_hold() and not any(it.doubtful for it in self._records)
        return batches

    # State.

    def summary(self, now: float) -> Summary:
        """Return the state at `now`."""
        confirmed = self._all_hold()
        return Summary(
            gate_open=not self._gate.obstacle(now),
            armed=self._armed,
            confirmed=confirmed,
            in_force=self._in_force,
            registers=tuple(record.row for record in self._records),
            message=self._message(now, confirmed=confirmed),
        )

    @property
    def _armed(self) -> bool:
        return all(record.armed for record in self._records)

    def _all_hold(self) -> bool:
        if self._in_force is None:
            return False
        wanted = self._table[self._in_force.mode]
        return all(r.holds(w) for r, w in zip(self._records, wanted, strict=True))

    def _message(self, now: float, *, confirmed: bool) -> str:
        if self._in_force is None:
            return "waiting for a statement on /control_mode"
        if waiting := self._gate.obstacle(now) or self._obstacle:
            return waiting
        if confirmed:
            return ""
        failures = [record.failure for record in self._records if record.failure]
        if failures:
            return brief(failures)
        return (
            f"{'writing' if self._armed else 'arming with'} the gains of {self._in_force.mode.name}"
        )

    def _due(self, in_force: ModeInForce, now: float) -> list[tuple[list[SdoObject], bool]]:
        """Return the objects of each batch to send, and whether to write them.

        One batch writes and one reads all drives without a batch but the slow ones.
        """
        writes: list[SdoObject] = []
        reads: list[SdoObject] = []
        alone: list[tuple[list[SdoObject], bool]] = []
        busy = {slave for batch in self._under_way for slave in batch.slaves}
        for record, wanted in zip(self._records, self._table[in_force.mode], strict=True):
            if not self._parallel and (busy or writes or reads or alone):
                break
            if record.slave not in busy:
                objects, write = record.due(wanted, now)
                if record.slow:
                    alone.append((list(objects), write))
                else:
                    (writes if write else reads).extend(objects)
                if write and not record.armed:
                    self._gain_log.arming(in_force)
        return [it for it in ((writes, True), *alone, (reads, False)) if it[0]]

    def _begin(
        self, in_force: ModeInForce, objects: list[SdoObject], write: bool, now: float
    ) -> Batch:
        batch = Batch(in_force, write, tuple(objects), now, self._gate.closes)
        self._under_way.append(batch)
        if write:
            for record in self._of(batch):
                record.begin_writing(item for item in objects if item.slave == record.slave)
        return batch

    def _clear_under_way(self, now: float) -> None:
        """Give up batches that are overdue or superseded."""
        for batch in list(self._under_way):
            if now - batch.sent > self._timeout:
                self._under_way.remove(batch)
                self._give_up(batch, f"no answer within {self._timeout:g} s", now)
            elif batch.in_force != self._in_force and now - self._in_force_since > SUPERSEDED_LIMIT:
                # The component refuses the rest of a write. A drive that doesn't answer must not
                # delay the others.
                self._under_way.remove(batch)
                self._abandon(batch, now)

    def _abandon(self, batch: Batch, now: float) -> None:
        for record in self._of(batch):
            record.not_learned(now, write=batch.write)
            record.slow = True

    def _give_up(self, batch: Batch, reason: str, now: float) -> None:
        self._abandon(batch, now)
        for record in self._of(batch):
            record.fail(reason, now)
        self._gain_log.failed(self._of(batch))

    def _of(self, batch: Batch) -> Iterator[DriveRecord]:
        return (record for record in self._records if record.slave in batch.slaves)

    def _forget(self) -> None:
        for record in self._records:
            record.forget()

    def _audit(self, now: float) -> None:
        """Mark all registers to be read again when there is time."""
        self._audit_due = now + AUDIT_PERIOD
        for record in self._records:
            record.doubtful = True

    def _note_progress(self, now: float) -> None:
        if self._in_force is None or self._gain_log.told(self._in_force):
            return
        if self._all_hold():
            self._gain_log.confirmed(self._in_force, len(self._records), now - self._in_force_since)


class GainLog:
    """Logs changes of the drives' gains, each once."""

    def __init__(self) -> None:
        self._arming = False
        self._confirmed: ModeInForce | None = None

    def arming(self, in_force: ModeInForce) -> None:
        """Log that drives are about to leave their factory gains."""
        if not self._arming:
            logger.warning(
                "arming: factory (stiff) gains are replaced by those of %s (switch %d)",
                in_force.mode.name, in_force.number,
            )  # fmt: skip
        self._arming = True

    def told(self, in_force: ModeInForce) -> bool:
        """Return whether the log has it that all drives hold the gains of a mode."""
        return in_force == self._confirmed and not self._arming

    def confirmed(self, in_force: ModeInForce, drives: int, seconds: float) -> None:
        """Log that all drives hold the gains of a mode, `seconds` after it was stated."""
        self._arming = False
        if in_force != self._confirmed:
            self._confirmed = in_force
            logger.info(
                "gains of %s (switch %d) confirmed on %d drives after %.1f ms",
                in_force.mode.name, in_force.number, drives, seconds * 1e3,
            )  # fmt: skip

    def failed(self, records: Iterable[DriveRecord]) -> None:
        """Log the drives of `records` that begin to fail, and those that keep failing."""
        failing = [(record.failures, record.failure) for record in records]
        if new := [text for count, text in failing if count == 1]:
            logger.warning("%s", brief(new))
        if lasting := [text for count, text in failing if count == QUICK_RETRIES]:
            tries = f"{QUICK_RETRIES} tries, from now on one a second"
            logger.error("%s: %s", tries, brief(lasting))


def brief(failures: Sequence[str]) -> str:
    """Return the first failures in full, and the number of the others."""
    more = len(failures) - MOST_NAMED
    return "; ".join(failures[:MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
