"""The drives of a configured ring: exchange of process data, and their mailboxes."""

from collections.abc import Sequence
from math import ceil
from typing import Final

import numpy as np

from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.robot.joints import FloatArray
from humanoid_devices_erob.drive.cia402_sequencer import Cia402Sequencer, Mask, operation_enabled
from humanoid_devices_erob.drive.gains import WIDEST
from humanoid_devices_erob.drive.joint_frame import as_wire_counts
from humanoid_devices_erob.drive.target_following import TargetRule
from humanoid_devices_erob.mailbox.mailbox_engine import MailboxEngine
from humanoid_devices_erob.mailbox.mailbox_port import MailboxLayout
from humanoid_devices_erob.mailbox.sdo import SdoBatch
from humanoid_devices_erob.mailbox.sdo_batch import Results, SdoBatches
from humanoid_devices_erob.master.distributed_clock import DcLock
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.process_image import ProcessImage

LONGEST_NAP: Final = 0.01  # [s] of waiting without a due time


class Ring:
    """All slaves of an open master, one drive each; everything is in ring order.

    Belongs to the I/O thread; other threads may only call `sdo.submit`.
    """

    def __init__(
        self, master: EthercatMaster, layouts: Sequence[MailboxLayout], machine: Machine
    ) -> None:
        count = len(layouts)
        self.image = ProcessImage(count)
        self.sequencer = Cia402Sequencer(count)
        self.targets = TargetRule(np.zeros(count))  # replaced once the joints' limits are known
        self.lock = DcLock(1_000_000)
        self.machine = machine
        self.wake = machine.event()  # a batch was submitted
        self.enabled: Mask = np.zeros(count, dtype=bool)  # in operation; replaced as a whole
        self.watched: Mask = np.ones(count, dtype=bool)  # drives whose watchdog monitors outputs
        self.gate_bytes = [WIDEST] * count  # of 0x2383 in each drive
        self.lost = 0  # exchanges since the last that reached every slave
        self.lost_in_all = 0  # exchanges that didn't reach every slave, at the present rate
        self.answered = False  # whether the frame of the latest exchange came back
        self.working_counter = -1  # of the latest exchange; -1: the frame was lost
        self.last_answer = machine.clock()  # [s]
        self.last_complete = machine.clock()  # [s] of the latest exchange with every slave
        self.expected_working_counter = -1  # of an exchange with every slave
        self.engine = MailboxEngine(master, machine.clock, layouts)
        self.sdo = SdoBatches(self.engine, machine.clock, self.wake.set)
        self._master = master
        self._period = 0.0  # [s] from exchange to exchange
        self._dc_time = 0  # [ns] of the latest exchange that reached the reference clock

    def set_rate(self, period: float, sync0: float) -> None:
        """Set the time from exchange to exchange, and from SYNC0 to SYNC0 [s]."""
        self._period = period
        self.lock = DcLock(round(period * 1e9))
        self.sequencer.hold = ceil(2.0 * sync0 / period)
        self.lost = self.lost_in_all = 0  # losses at another rate are not comparable

    def exchange(self, target: FloatArray | None = None) -> None:
        """Exchange process data once.

        Drives in operation get `target` [counts] (n,). Without it their targets creep after the
        joints, as their gains are unknown. All other drives get their measured position.
        """
        image, enabled = self.image, self.enabled
        self.sequencer.step(image.statusword, enabled, image.controlword)
        if target is None:
            measured = image.position.astype(np.float64)
            everywhere = np.ones(image.count, dtype=bool)
            target = self.targets.update(measured, measured, everywhere, ~enabled, self._period)
        image.target[:] = image.position
        np.copyto(image.target, as_wire_counts(target), where=enabled)
        counter, inputs = self._master.exchange(image.pack())
        self.working_counter, self.answered = counter, counter >= 0
        if self.answered:
            self.last_answer = self.machine.clock()
            image.unpack(inputs)
            self.enabled = operation_enabled(image.statusword)
        self._follow_clock()
        if counter != self.expected_working_counter:
            self.lost += 1
            self.lost_in_all += 1
            return
        self.lost = 0
        self.last_complete = self.last_answer

    def _follow_clock(self) -> None:
        """Keep the phase to SYNC0, also while slaves behind the reference clock are missing."""
        before, self._dc_time = self._dc_time, self._master.dc_time
        if self._dc_time > before:  # else the reference clock was not reached
            self.lock.update(self._dc_time)

    def complete(self, batch: SdoBatch) -> Results:
        """Run a batch to its end without exchanging process data."""
        future = self.sdo.submit(batch)
        while not future.done():
            if not self.sdo.step():
                nap = self._nap(self.machine.clock() + LONGEST_NAP)
                if nap > 0.0:
                    self.machine.sleep(nap)
        return future.result()

    def exchange_mail_until(self, deadline: float) -> None:
        """Process batches until `deadline` [s]; a batch submitted meanwhile begins at once."""
        machine = self.machine
        while machine.clock() < deadline:
            self.wake.clear()
            if not self.sdo.step(deadline):
                nap = self._nap(deadline)
                if nap > 0.0:
                    machine.wait(self.wake, nap)

    def _nap(self, deadline: float) -> float:
        return min(deadline, self.sdo.next_due) - self.machine.clock()
