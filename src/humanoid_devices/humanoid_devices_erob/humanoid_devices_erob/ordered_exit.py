"""From drives in operation to a closed master, in the order that lets no arm snap.

    targets creep -> operation disabled -> gate 0x2383 closed and read back -> INIT
    -> drives whose gate is not: PREOP -> gate closed and read back -> INIT -> closed

Closing the gate of an enabled drive would give a sagged arm its stiff factory gains at once. A
drive that has left OP is sent no mail before its clock is off: it takes its gate in PREOP.
Everything is tried, for all other drives, when some are dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from humanoid_devices_erob.al_state import AlState, AlStatus
from humanoid_devices_erob.bring_up import Master
from humanoid_devices_erob.cycle import Cycle
from humanoid_devices_erob.drive_walk import Mask
from humanoid_devices_erob.joint_texts import said_together
from humanoid_devices_erob.ring import Ring
from humanoid_devices_erob.ring_errors import RingError
from humanoid_devices_erob.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.sdo_batch import PATIENT
from humanoid_devices_erob.state_walk import lead_to
from humanoid_devices_erob.wire import objects

FOLLOW_TIME: Final = 0.02  # [s] of targets that creep before the drives are disabled
DISABLE_TIMEOUT: Final = 0.5  # [s]
MAIL_TIMEOUT: Final = 2.0 * PATIENT  # [s] for all gates, each written and read back
INIT_TIMEOUT: Final = 0.5  # [s]
# [s] all of it at most: both times in mailboxes, and the ways to INIT, PREOP and INIT.
LONGEST: Final = FOLLOW_TIME + DISABLE_TIMEOUT + 2.0 * MAIL_TIMEOUT + 3.0 * INIT_TIMEOUT
ADVICE: Final = "switch the power of the drives off"


class OrderedExit:
    """Takes a ring down; `failures` says what stayed as it should not, and what to do."""

    def __init__(self, master: Master, ring: Ring, cycle: Cycle, joint_at: Sequence[str]) -> None:
        self.failures: list[str] = []
        self._master, self._ring, self._cycle = master, ring, cycle
        self._joint_at = joint_at
        self._mail: Mask = np.zeros(len(joint_at), dtype=bool)  # slaves that take it now
        self._in_op: Mask = np.zeros(len(joint_at), dtype=bool)
        self._armed = dict.fromkeys(range(len(joint_at)), "")  # slaves, and why they still are
        self._states: Sequence[AlStatus] = ()

    def run(self) -> None:
        """Everything, once; the caller closes the master."""
        ring = self._ring
        ring.abandon_mail("the ring is being shut down")
        ring.refusal = self._refusal
        ring.patience = PATIENT
        try:
            self._states = self._master.states()
            self._in_op[:] = [status.state is AlState.OP for status in self._states]
            self._cycle.until(lambda: False, FOLLOW_TIME)
            self._disable()
            self._close_gates()
            self._leave()
            self._close_gates_in_preop()
        except RingError as error:  # no frame can be sent any more
            self.failures.append(str(error))
        ring.abandon_mail("the ring has been shut down")
        self._judge()

    def _disable(self) -> None:
        self._cycle.disable_all(lambda: bool(self._still_enabled().any()), DISABLE_TIMEOUT)

    def _still_enabled(self) -> Mask:
        """What a dead slave said last means nothing."""
        return self._ring.enabled & self._in_op

    def _close_gates(self) -> None:
        """Of all drives in OP that have no torque."""
        self._mail[:] = self._in_op & ~self._still_enabled()
        future = self._ring.submit(self._closing())
        self._cycle.until(future.done, MAIL_TIMEOUT, self._ring.mail_until)
        self._ring.abandon_mail("no time left for closing the gates")
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
        self._master.request_state(AlState.INIT)
        # Frames go on: the drives leave OP in their own time, and until then want SYNC0 served.
        self._cycle.until(self._in_init, INIT_TIMEOUT)
        for slave in range(len(self._joint_at)):
            self._master.stop_sync0(slave)

    def _in_init(self) -> bool:
        self._states = self._master.states()
        return not any(status.state in (AlState.SAFEOP, AlState.OP) for status in self._states)

    def _close_gates_in_preop(self) -> None:
        """Of those that were not in OP, or didn't answer there: without clocks mail is safe."""
        master, ring = self._master, self._ring
        answering = [i for i, it in enumerate(self._states) if it.state is not AlState.NONE]
        there = [i for i in answering if i in self._armed]
        if not there:
            return
        self._states = lead_to(AlState.PREOP, there, master, ring.timebase, INIT_TIMEOUT)
        self._mail[:] = [status.state is AlState.PREOP for status in self._states]
        for slave in there:
            ring.engine.reset(slave)
        self._note(ring.complete(self._closing()))
        self._states = lead_to(AlState.INIT, answering, master, ring.timebase, INIT_TIMEOUT)

    def _judge(self) -> None:
        lively = [
            (self._joint_at[i], f"still in {status.state.name}")
            for i, status in enumerate(self._states)
            if status.state in (AlState.SAFEOP, AlState.OP)
        ]
        if lively:
            self.failures.append(f"not taken out of operation: {said_together(lively)}")
        if self._armed:
            armed = [(self._joint_at[i], self._reason(i)) for i in self._armed]
            self.failures.append(
                f"0x2383 not read back as 0, may still be armed: {said_together(armed)}"
            )
        if self.failures:
            self.failures.append(ADVICE)

    def _reason(self, slave: int) -> str:
        if not self._states or self._states[slave].state is AlState.NONE:
            return "does not answer"
        return self._armed[slave] or f"does not go to PREOP, {self._states[slave]}"

    def _refusal(self, slave: int, batch: SdoBatch) -> str:
        return "" if self._mail[slave] else "not in a state for mail"
