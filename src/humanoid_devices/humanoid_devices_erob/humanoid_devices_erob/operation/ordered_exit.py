"""Take drives out of operation, in an order in which no arm snaps.

    targets creep -> operation disabled -> gate 0x2383 closed and read back -> INIT
    -> drives whose gate is not: PREOP -> gate closed and read back -> INIT -> closed

Closing the gate of an enabled drive would give a sagged arm its stiff factory gains at once. A
drive that has left OP gets no mail before its clock is off: its gate is closed in PREOP. Drives
that do not answer do not keep the others from any step.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from humanoid_devices_erob.drive.cia402_sequencer import Mask
from humanoid_devices_erob.errors import POWER_OFF, RingError, joined_by_text
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.mailbox.sdo_batch import LONG_TIMEOUT
from humanoid_devices_erob.master.al_state import AlState, AlStatus, RepeatedRequest, lead_to
from humanoid_devices_erob.master.cyclic_exchange import DISABLE_TIMEOUT, CyclicExchange
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.protocol import objects

FOLLOW_TIME: Final = 0.02  # [s] of targets that creep before the drives are disabled
MAIL_TIMEOUT: Final = 2.0 * LONG_TIMEOUT  # [s] for all gates, each written and read back
INIT_TIMEOUT: Final = 0.5  # [s]
# [s] at most: both times in mailboxes, and the ways to INIT, PREOP and INIT.
LONGEST: Final = FOLLOW_TIME + DISABLE_TIMEOUT + 2.0 * MAIL_TIMEOUT + 3.0 * INIT_TIMEOUT


class OrderedExit:
    """Takes a ring down; `failures` names the drives that may still be active, and the remedy."""

    def __init__(
        self, master: EthercatMaster, ring: Ring, cycle: CyclicExchange, joint_at: Sequence[str]
    ) -> None:
        self.failures: list[str] = []
        self._master, self._ring, self._cycle = master, ring, cycle
        self._joint_at = joint_at
        self._mail: Mask = np.zeros(len(joint_at), dtype=bool)  # slaves that accept mail now
        self._in_op: Mask = np.zeros(len(joint_at), dtype=bool)
        self._armed = dict.fromkeys(range(len(joint_at)), "")  # slaves, and the reason
        self._states: Sequence[AlStatus] = ()

    def run(self) -> None:
        """Run all steps once; the caller closes the master."""
        ring = self._ring
        ring.sdo.abandon("the ring is being shut down")
        ring.sdo.refusal = self._refusal
        ring.sdo.timeout = LONG_TIMEOUT
        try:
            self._states = self._master.states()
            self._in_op[:] = [status.state is AlState.OP for status in self._states]
            self._cycle.until(lambda: False, FOLLOW_TIME)
            self._cycle.disable_all(lambda: bool(self._still_enabled().any()))
            self._close_gates()
            self._leave()
            self._close_gates_in_preop()
        except RingError as error:  # no frame can be sent any more
            self.failures.append(str(error))
        ring.sdo.abandon("the ring has been shut down")
        self._judge()

    def _still_enabled(self) -> Mask:
        # The last statusword of a slave that has left OP is meaningless.
        return self._ring.enabled & self._in_op

    def _close_gates(self) -> None:
        """Close the gates of all drives in OP that have no torque."""
        self._mail[:] = self._in_op & ~self._still_enabled()
        future = self._ring.sdo.submit(self._closing())
        self._cycle.until(future.done, MAIL_TIMEOUT, self._ring.exchange_mail_until)
        self._ring.sdo.abandon("no time left for closing the gates")
        self._note(future.result())

    def _closing(self) -> SdoBatch:
        slaves = [slave for slave in self._armed if self._mail[slave]]
        return SdoBatch(
            tuple(
                SdoObject(slave, *objects.GATE_SWITCH, bytes(self._ring.gate_bytes[slave]))
                for slave in slaves
            ),
            write=True,
        )

    def _note(self, results: Sequence[SdoResult]) -> None:
        for result in results:
            if result.status is SdoStatus.DONE:
                del self._armed[result.object.slave]
            else:
                self._armed[result.object.slave] = result.message

    def _leave(self) -> None:
        request = RepeatedRequest(AlState.INIT, self._master, self._ring.machine)

        def left() -> bool:
            request.send_if_due()
            self._states = self._master.states()
            return not any(status.state in (AlState.SAFEOP, AlState.OP) for status in self._states)

        # The exchange continues: until a drive has left OP it needs a frame for every SYNC0.
        self._cycle.until(left, INIT_TIMEOUT)
        for slave in range(len(self._joint_at)):
            self._master.stop_sync0(slave)

    def _close_gates_in_preop(self) -> None:
        """Close the gates that are left: without clocks mail is safe in PREOP."""
        master, ring = self._master, self._ring
        answering = [i for i, it in enumerate(self._states) if it.state is not AlState.NONE]
        there = [i for i in answering if i in self._armed]
        if not there:
            return
        self._states = lead_to(AlState.PREOP, there, master, ring.machine, INIT_TIMEOUT)
        self._mail[:] = [status.state is AlState.PREOP for status in self._states]
        for slave in there:
            ring.engine.reset(slave)
        self._note(ring.complete(self._closing()))
        self._states = lead_to(AlState.INIT, answering, master, ring.machine, INIT_TIMEOUT)

    def _judge(self) -> None:
        active = [
            (self._joint_at[i], f"still in {status.state.name}")
            for i, status in enumerate(self._states)
            if status.state in (AlState.SAFEOP, AlState.OP)
        ]
        if active:
            self.failures.append(f"not taken out of operation: {joined_by_text(active)}")
        if self._armed:
            armed = [(self._joint_at[i], self._reason(i)) for i in self._armed]
            self.failures.append(
                f"0x2383 not read back as 0, may still be armed: {joined_by_text(armed)}"
            )
        if self.failures:
            self.failures.append(POWER_OFF)

    def _reason(self, slave: int) -> str:
        if not self._states or self._states[slave].state is AlState.NONE:
            return "does not answer"
        return self._armed[slave] or f"does not go to PREOP, {self._states[slave]}"

    def _refusal(self, slave: int, batch: SdoBatch) -> str:
        # Another client's batch may have passed the checks of operation just before the exit.
        if batch.write and not all(map(_closes_gate, batch.objects)):
            return "the ring is being shut down"
        return "" if self._mail[slave] else "not in a state for mail"


def _closes_gate(target: SdoObject) -> bool:
    return target.key == objects.GATE_SWITCH and not any(target.data)
