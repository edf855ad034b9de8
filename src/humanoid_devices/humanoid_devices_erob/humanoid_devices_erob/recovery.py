"""Back to operation after a fault, a little in every tick: AL states, then modes, then drives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from humanoid_devices_erob.al_state import AlState, AlStatus
from humanoid_devices_erob.drive_walk import Mask
from humanoid_devices_erob.readiness import Clocks, Readiness
from humanoid_devices_erob.ring import Ring

STATE_PATIENCE: Final = 0.1  # [s] for a slave to do what it was asked before it is asked again
TIMEOUT: Final = 3.0  # [s] for the whole


class RecoveryMaster(Clocks, Protocol):
    """What of the master is needed."""

    def request_slave_state(self, slave: int, state: AlState, *, acknowledge: bool = False) -> None:
        """Ask one slave, and acknowledge the error it shows."""


class Recovery:
    """Under way from `begin` until `active` is False; `remark` says what is left to be done."""

    def __init__(self, master: RecoveryMaster, ring: Ring, joint_at: Sequence[str]) -> None:
        self.active = False
        self.remark = ""
        self.recovered: list[int] = []  # slaves that had left OP and are back
        self._master, self._ring, self._joint_at = master, ring, joint_at
        self._readiness = Readiness(ring, master, joint_at)
        self._asked = np.zeros(len(joint_at))  # [s] when each slave may be asked again
        self._left_op: Mask = np.zeros(len(joint_at), dtype=bool)
        self._end = 0.0  # [s]

    def begin(self) -> None:
        """Start, or give what is under way its whole time again.

        What drives are asked meanwhile stays asked: a reset in every tick would never end.
        """
        self._end = self._ring.timebase.clock() + TIMEOUT
        if self.active:
            return
        self.active, self.remark, self.recovered = True, "", []
        self._asked[:] = 0.0
        self._left_op[:] = False
        self._readiness.forget(range(len(self._joint_at)))

    def step(self, statuses: Sequence[AlStatus]) -> None:
        """Go on, knowing the present AL states of all slaves."""
        now = self._ring.timebase.clock()
        in_op = np.array([it.state is AlState.OP and not it.error for it in statuses])
        lost = np.array([it.state not in (AlState.SAFEOP, AlState.OP) for it in statuses])
        self._left_op |= ~in_op
        if now > self._end:  # perhaps long ago: nothing may move for a request that old
            self._finish(self._ring.enabled & in_op, lost)
            return
        for slave in np.flatnonzero(~in_op).tolist():
            if now >= self._asked[slave]:
                self._asked[slave] = now + STATE_PATIENCE
                self._lead_to_op(slave, statuses[slave])
        readiness, walk = self._readiness, self._ring.walk
        readiness.forget(np.flatnonzero(~in_op).tolist())
        readiness.look(np.flatnonzero(in_op & ~walk.wanted).tolist())
        ready = in_op & ~walk.wanted & readiness.ready
        walk.enable(ready, reset_faults=True)
        readiness.forget(np.flatnonzero(ready).tolist())  # asked again if it falls again
        enabled = self._ring.enabled & in_op
        if bool((enabled | lost).all()):
            self._finish(enabled, lost)

    def _lead_to_op(self, slave: int, status: AlStatus) -> None:
        if status.state is AlState.SAFEOP:
            aim = AlState.SAFEOP if status.error else AlState.OP
            self._master.request_slave_state(slave, aim, acknowledge=status.error)

    def _finish(self, enabled: Mask, lost: Mask) -> None:
        self.active = False
        self.recovered = np.flatnonzero(enabled & self._left_op).tolist()
        refused = ~(enabled | lost | self._ring.walk.wanted)
        problems = [self._readiness.problems(np.flatnonzero(refused).tolist())]
        self._ring.walk.disable(~enabled)
        if lost.any():
            names = ", ".join(self._joint_at[i] for i in np.flatnonzero(lost).tolist())
            problems.append(
                f"{names}: not configured any more (power or cable): mend it, then restart the "
                "control process"
            )
        self.remark = "; ".join(filter(None, problems))
