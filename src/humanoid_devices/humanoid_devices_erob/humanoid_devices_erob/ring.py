"""The drives of a configured ring: one exchange of process data, and what it brought."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from math import ceil
from typing import Final, Protocol

import numpy as np

from humanoid_control_common.joints import FloatArray
from humanoid_devices_erob.dc_lock import DcLock
from humanoid_devices_erob.drive_walk import DriveWalk, Mask, operation_enabled
from humanoid_devices_erob.exchange import ProcessImage
from humanoid_devices_erob.follow import TargetRule
from humanoid_devices_erob.gains import WIDEST
from humanoid_devices_erob.joint_frame import as_wire_counts
from humanoid_devices_erob.mailbox_engine import MailboxEngine, MailboxLayout, MailboxPort
from humanoid_devices_erob.sdo import SdoBatch, SdoResult
from humanoid_devices_erob.sdo_batch import PATIENT, SdoBatches
from humanoid_devices_erob.timebase import Timebase
from humanoid_devices_erob.wire.coe import Emergency

LONGEST_NAP: Final = 0.01  # [s] between two looks at something that has no time of its own


class ProcessDataMaster(MailboxPort, Protocol):
    """What of the master is needed to exchange process data and mail."""

    @property
    def expected_working_counter(self) -> int:
        """Of an exchange that reached every slave."""

    @property
    def dc_time(self) -> int:
        """Of the reference clock when the latest frame passed it [ns]."""

    def exchange(self, outputs: bytes) -> tuple[int, bytes]:
        """Working counter, -1 without an answer, and inputs of all slaves."""


class Ring:
    """All slaves of an open master, one drive each; everything is in ring order.

    Belongs to the thread that does the I/O; only `submit` may be called from others.
    """

    def __init__(
        self, master: ProcessDataMaster, layouts: Sequence[MailboxLayout], timebase: Timebase
    ) -> None:
        count = len(layouts)
        self.image = ProcessImage(count)
        self.walk = DriveWalk(count)
        self.targets = TargetRule(np.zeros(count))  # until it is told the joints' speeds
        self.lock = DcLock(1_000_000)
        self.timebase = timebase
        self.wake = threading.Event()  # there is new mailbox work
        self.enabled: Mask = np.zeros(count, dtype=bool)  # in operation; a new array each time
        self.watched: Mask = np.ones(count, dtype=bool)  # whose watchdog looks at the outputs
        self.gate_bytes = [WIDEST] * count  # of 0x2383 in each drive
        self.lost = 0  # exchanges since the last that reached every slave
        self.lost_in_all = 0  # exchanges that didn't reach every slave, at the present pace
        self.answered = False  # whether the latest exchange came back at all
        self.working_counter = -1  # of the latest exchange; -1: nothing came back
        self.last_answer = timebase.clock()  # [s]
        self.last_complete = timebase.clock()  # [s] that every slave took part
        self.refusal: Callable[[int, SdoBatch], str] = _refuse_nothing
        self.on_emergency: Callable[[int, Emergency], None] = _ignore
        self._master = master
        self.engine = MailboxEngine(master, timebase.clock, layouts, self._emergency)
        self.patience = PATIENT  # [s] with an SDO object; a running loop has less
        self._batches = SdoBatches(
            self.engine, timebase.clock, self._refusal, self.wake.set, lambda: self.patience
        )
        self._expected = -1
        self._period = 0.0  # [s] from exchange to exchange

    @property
    def expected_working_counter(self) -> int:
        """Of an exchange that reached every slave."""
        return self._expected

    def mapped(self) -> None:
        """Process data is configured in the master."""
        self._expected = self._master.expected_working_counter

    def paced(self, period: float, sync0: float) -> None:
        """From here on an exchange comes every `period`; SYNC0 fires every `sync0` [s]."""
        self._period = period
        self.lock = DcLock(round(period * 1e9))
        self.walk.hold = ceil(2.0 * sync0 / period)
        self.lost = self.lost_in_all = 0  # at another pace says nothing about this one

    def exchange(self, target: FloatArray | None = None) -> None:
        """Exchange process data once; drives that aren't in operation follow what they measure.

        Without `target` [counts] (n,) those in operation creep after it: they may have any gains.
        """
        image, enabled = self.image, self.enabled
        self.walk.step(image.statusword, enabled, image.controlword)
        if target is None:
            measured = image.position.astype(np.float64)
            everywhere = np.ones(image.count, dtype=bool)
            target = self.targets.update(measured, measured, everywhere, ~enabled, self._period)
        image.target[:] = image.position
        np.copyto(image.target, as_wire_counts(target), where=enabled)
        counter, inputs = self._master.exchange(image.pack())
        self.working_counter, self.answered = counter, counter >= 0
        if self.answered:
            self.last_answer = self.timebase.clock()
            image.unpack(inputs)
            self.enabled = operation_enabled(image.statusword)
        if counter != self._expected:
            self.lost += 1
            self.lost_in_all += 1
            return
        self.lost = 0
        self.last_complete = self.last_answer
        self.lock.update(self._master.dc_time)

    # Mail.

    def submit(self, batch: SdoBatch) -> Future[tuple[SdoResult, ...]]:
        """Begin a batch soon. May be called from any thread."""
        return self._batches.submit(batch)

    def complete(self, batch: SdoBatch) -> tuple[SdoResult, ...]:
        """Run a batch to its end, doing nothing else."""
        future = self.submit(batch)
        while not future.done():
            if not self._batches.step():
                nap = self._nap(self.timebase.clock() + LONGEST_NAP)
                if nap > 0.0:
                    self.timebase.sleep(nap)
        return future.result()

    def mail_until(self, deadline: float) -> None:
        """Do mailbox work until `deadline` [s], wake up for what comes in meanwhile."""
        timebase = self.timebase
        while timebase.clock() < deadline:
            self.wake.clear()
            if not self._batches.step():
                nap = self._nap(deadline)
                if nap > 0.0:
                    timebase.wait(self.wake, nap)

    def abandon_mail(self, reason: str) -> None:
        """End every batch."""
        self._batches.abandon(reason)

    def _nap(self, deadline: float) -> float:
        return min(deadline, self._batches.next_due) - self.timebase.clock()

    def _refusal(self, slave: int, batch: SdoBatch) -> str:
        return self.refusal(slave, batch)

    def _emergency(self, slave: int, emergency: Emergency) -> None:
        self.on_emergency(slave, emergency)


def _refuse_nothing(slave: int, batch: SdoBatch) -> str:
    return ""


def _ignore(slave: int, emergency: Emergency) -> None:
    """Before operation the drive's error is read, not listened for."""
