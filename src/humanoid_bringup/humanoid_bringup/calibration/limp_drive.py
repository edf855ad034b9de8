"""Make one eRob drive at a time damped-limp, and restore it. No ROS, no I/O.

Every call takes the time [s, monotonic].
"""

import math
from collections.abc import Iterable
from typing import Final

from humanoid_bringup.calibration.drive_record import DriveRecord
from humanoid_bringup.calibration.robot import Drive
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import SAFE_MODES
from humanoid_devices_erob.impedance.values import Batch, ModeInForce, Reply, retry_delay
from humanoid_devices_erob.mailbox.sdo import SdoObject
from humanoid_devices_erob.operation.joint_states_gate import FORGET_AFTER, JointStatesGate

AUDIT_PERIOD: Final = 1.0  # [s] the limp drive is read again: it may have restarted
NO_MORE: Final = "is not limp any more"
AGAIN: Final = "select it again"


class LimpDrives:
    """State machine that makes the requested drive limp while the gate is open.

    A drive is softened only when all others are known to be stiff; these have factory gains.

    Args:
        drives: all eRobs.
        gate: of /prime/joint_states; a batch is valid only as long as it stays open.
        timeout: time [s] after which a batch without answer is given up.
    """

    def __init__(self, drives: Iterable[Drive], gate: JointStatesGate, *, timeout: float) -> None:
        self._records = {drive.joint: DriveRecord(drive) for drive in drives}
        self._gate = gate
        self._timeout = timeout
        self._selected = ""
        self._was_limp = False  # the selected one has been limp
        self._under_way: Batch | None = None
        self._failures = 0  # in a row
        self._failure = ""
        self._obstacle = ""
        self._dropped = ""  # why nothing is selected any more
        self._not_before = 0.0
        self._audit_due = 0.0

    # Events.

    def select(self, joint: str) -> None:
        """Make `joint` limp, and no other; "": none. Raises ConfigError for another joint."""
        if joint and joint not in self._records:
            raise ConfigError(
                f"'{joint}' is no eRob joint; these are: {', '.join(self._records) or 'none'}"
            )
        if joint != self._selected:
            self._selected = joint
            self._was_limp = False
            if joint:
                self._records[joint].keeps_feed_forward = False
            self._dropped = ""
            self._not_before = 0.0

    def joints_seen(self, names: list[str], positions: list[float], now: float) -> None:
        """Take a message of /prime/joint_states.

        After a long interruption no joint is selected any more: none becomes limp unexpectedly.
        """
        closed = self._gate.seen(names, positions, now)
        if FORGET_AFTER < closed < math.inf:
            for record in self._records.values():
                record.forget()
            self._drop(f"{NO_MORE}: there were no joint states for a while; {AGAIN}")

    def finished(self, batch: Batch, reply: Reply, now: float) -> None:
        """Take the answer to a batch. That of one that was given up is ignored."""
        if batch is not self._under_way:
            return
        self._under_way = None
        failure = ""
        if len(reply.results) != len(batch.objects):
            self._forget_registers_of(batch)
            failure = reply.failure or "an answer without results"
        else:
            for record in self._records_of(batch):
                mine = [r for r in reply.results if r.object.slave == record.drive.slave]
                failure = record.batch_ended(mine) or failure
        self._record_failure(failure, now)
        self._drop_if_stiff()

    # Action.

    def next_batch(
        self, now: float, mode_in_force: ModeInForce | None, obstacle: str
    ) -> Batch | None:
        """Return the batch to send now, if any.

        `obstacle`: why nothing can be sent, or "".
        """
        self._obstacle = obstacle or self._gate.obstacle(now) or mode_obstacle(mode_in_force)
        self._give_up_in_time(now)
        if self._obstacle or mode_in_force is None or self._under_way or now < self._not_before:
            return None
        objects, write = self._due(now)
        if not objects:
            return None
        self._under_way = Batch(mode_in_force, write, tuple(objects), now, self._gate.closes)
        return self._under_way

    # State.

    @property
    def selected(self) -> str:
        """The joint that is, or is to become, limp; empty if none."""
        return self._selected

    @property
    def limp_joint(self) -> str:
        """The joint that read-back has shown to be limp; empty if none."""
        record = self._records.get(self._selected)
        return self._selected if record and record.limp else ""

    @property
    def touched(self) -> list[str]:
        """Joints that are not known to be as they were before."""
        return [joint for joint, record in self._records.items() if record.touched]

    @property
    def released(self) -> bool:
        """Return True if every drive is as it was, and no batch is under way."""
        return not self.touched and self._under_way is None

    @property
    def message(self) -> str:
        """The present obstacle or wait; empty if none."""
        if self._obstacle or self._failure:
            return self._obstacle or self._failure
        restored = [joint for joint in self.touched if joint != self._selected]
        if restored:
            return f"restoring {', '.join(restored)}"
        if self._selected and not self.limp_joint:
            return f"making {self._selected} limp"
        return self._dropped

    # Inside.

    def _due(self, now: float) -> tuple[list[SdoObject], bool]:
        """Return the objects that are due, and whether they are writes.

        Drives to be restored come first, then the selected drive, then unknown registers.
        """
        others = [record for joint, record in self._records.items() if joint != self._selected]
        to_restore = [record for record in others if _must_be_restored(record)]
        if unread := [record for record in to_restore if not record.known]:
            return [item for record in unread for item in record.reads()], False
        if to_restore:
            return self._writes(to_restore, restoring=True), True
        selected = self._records.get(self._selected)
        if selected and selected.known and not selected.limp:
            return self._writes([selected], restoring=False), True
        if selected and now >= self._audit_due:
            self._audit_due = now + AUDIT_PERIOD
            return list(selected.reads()), False
        unknown = [record for record in self._records.values() if not record.known]
        return [item for record in unknown for item in record.reads()], False

    def _writes(self, records: list[DriveRecord], *, restoring: bool) -> list[SdoObject]:
        objects: list[SdoObject] = []
        for record in records:
            objects += record.restoring() if restoring else record.softening()
            record.writes_sent(restoring=restoring)
        return objects

    def _records_of(self, batch: Batch) -> list[DriveRecord]:
        return [r for r in self._records.values() if r.drive.slave in batch.slaves]

    def _give_up_in_time(self, now: float) -> None:
        batch = self._under_way
        if batch is not None and now - batch.sent > self._timeout:
            self._under_way = None
            self._forget_registers_of(batch)
            self._record_failure(f"no answer within {self._timeout:g} s", now)

    def _record_failure(self, failure: str, now: float) -> None:
        """Keep `failure` and wait longer; without one, end the waiting once all is as wanted.

        A batch that succeeds does not end it: a drive may answer readings and refuse writes.
        """
        if failure:
            self._failure = failure
            self._not_before = now + retry_delay(self._failures)
            self._failures += 1
        elif self._all_as_wanted:
            self._failure, self._failures = "", 0

    @property
    def _all_as_wanted(self) -> bool:
        return all(
            record.limp
            if joint == self._selected
            else record.known and not _must_be_restored(record)
            for joint, record in self._records.items()
        )

    def _forget_registers_of(self, batch: Batch) -> None:
        for record in self._records_of(batch):
            record.forget()

    def _drop_if_stiff(self) -> None:
        """Drop the selected drive if it is stiff again: only the operator softens it once more."""
        record = self._records.get(self._selected)
        if record and record.keeps_feed_forward:
            self._drop(
                "cannot be limp: its velocity feed-forward 0x2382:03 stays, so that its target "
                "could not follow it"
            )
        elif record and record.limp:
            self._was_limp = True
        elif record and record.known and self._was_limp:
            self._drop(
                f"{NO_MORE}: its drive restarted, or another program has written to it; {AGAIN}"
            )

    def _drop(self, reason: str) -> None:
        if joint := self._selected:
            self.select("")
            self._dropped = f"{joint} {reason}"


def _must_be_restored(record: DriveRecord) -> bool:
    """Return True if the drive must be restored: its gate may be open since an earlier program."""
    return not record.is_restored and (record.touched or record.gate_open)


def mode_obstacle(mode_in_force: ModeInForce | None) -> str:
    """Return why joints are not limp in the mode in force; empty if they may be."""
    if mode_in_force is None:
        return "waiting for a statement on /control_mode"
    if mode_in_force.mode not in SAFE_MODES:
        return f"{mode_in_force.mode.name} is in force: go to ZERO_TORQUE or DAMPING"
    return ""
