"""From drives in operation to a closed master, in the order that lets no arm snap.

    targets follow -> operation disabled -> gate 0x2383 closed and read back -> INIT -> closed

Closing the gate of an enabled drive would give a sagged arm its stiff factory gains at once.
Everything is tried, for all other drives, when some are dead.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from humanoid_devices_erob.al_state import AlState, differing
from humanoid_devices_erob.bring_up import Master
from humanoid_devices_erob.cycle import Cycle
from humanoid_devices_erob.drive_walk import Mask
from humanoid_devices_erob.ring import Ring
from humanoid_devices_erob.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.wire import objects

FOLLOW_TIME: Final = 0.02  # [s] of targets that follow before the drives are disabled
DISABLE_TIMEOUT: Final = 0.5  # [s]
MAIL_TIMEOUT: Final = 1.0  # [s] for all gates; an object that isn't answered takes 0.1 s
INIT_TIMEOUT: Final = 0.5  # [s]
CLOSED: Final = bytes(4)  # the gate's value 0, an INT32 like the gains


class OrderedExit:
    """Takes a ring down; `failures` says what stayed as it should not."""

    def __init__(self, master: Master, ring: Ring, cycle: Cycle, joint_at: Sequence[str]) -> None:
        self.failures: list[str] = []
        self._master, self._ring, self._cycle = master, ring, cycle
        self._joint_at = joint_at
        self._in_op: Mask = np.zeros(len(joint_at), dtype=bool)

    def run(self) -> None:
        """Everything, once; the caller closes the master."""
        ring = self._ring
        ring.abandon_mail("the ring is being shut down")
        ring.refusal = self._refusal
        self._look()
        self._cycle.until(lambda: False, FOLLOW_TIME)
        self._disable()
        self._close_gates()
        self._leave()
        ring.abandon_mail("the ring has been shut down")

    def _look(self) -> None:
        states = self._master.states()
        self._in_op[:] = [status.state is AlState.OP for status in states]
        problem = differing(states, AlState.OP, self._joint_at)
        if problem:
            self.failures.append(f"was not in OP any more: {problem}")

    def _disable(self) -> None:
        ring = self._ring
        ring.walk.disable(np.ones(len(self._joint_at), dtype=bool))
        self._cycle.until(lambda: not self._still_enabled().any(), DISABLE_TIMEOUT)
        still = self._still_enabled()
        if still.any():
            self.failures.append(f"still in operation: {self._names(still)}")

    def _still_enabled(self) -> Mask:
        """What a dead slave said last means nothing."""
        return self._ring.enabled & self._in_op

    def _close_gates(self) -> None:
        """Of all drives that answer and have no torque."""
        targets = np.flatnonzero(self._in_op & ~self._still_enabled()).tolist()
        writes = tuple(SdoObject(slave, *objects.GATE_SWITCH, CLOSED) for slave in targets)
        future = self._ring.submit(SdoBatch(writes, write=True))
        self._cycle.until(future.done, MAIL_TIMEOUT, self._ring.mail_until)
        self._ring.abandon_mail("no time left for closing the gates")
        closed = {
            result.object.slave for result in future.result() if result.status is SdoStatus.DONE
        }
        armed = [name for slave, name in enumerate(self._joint_at) if slave not in closed]
        if armed:
            reasons = {result.message for result in future.result() if result.message}
            self.failures.append(
                f"0x2383 not read back as 0, may still be armed: {', '.join(armed)}"
                + (f" ({'; '.join(sorted(reasons))})" if reasons else "")
            )

    def _leave(self) -> None:
        self._master.request_state(AlState.INIT)
        # Frames go on: the drives leave OP in their own time, and until then want SYNC0 served.
        self._cycle.until(self._in_init, INIT_TIMEOUT)
        for slave in range(len(self._joint_at)):
            self._master.stop_sync0(slave)

    def _in_init(self) -> bool:
        states = self._master.states()
        return not any(status.state in (AlState.SAFEOP, AlState.OP) for status in states)

    def _refusal(self, slave: int, batch: SdoBatch) -> str:
        return "" if self._in_op[slave] else "not in OP"

    def _names(self, mask: Mask) -> str:
        return ", ".join(self._joint_at[i] for i in np.flatnonzero(mask).tolist())
