"""Lead drives back to operation after a fault, a little in every tick."""

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined
from humanoid_devices_erob.bring_up.readiness import Readiness
from humanoid_devices_erob.drive.cia402_sequencer import Mask
from humanoid_devices_erob.errors import joined_by_text
from humanoid_devices_erob.master.al_state import AlState, AlStatus
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.reason_codes import DRIVE_NOT_READY, SLAVE_NOT_CONFIGURED

STATE_TIMEOUT: Final = 0.1  # [s] until the state of a slave is requested again
TIMEOUT: Final = 3.0  # [s] for the whole

_NOT_SOFTENED: Final = (
    "not enabled: the gains of the mode in force could not be written, and those of before may be "
    "stiff: see what `hc status` says of joint states and gains"
)


class Recovery:
    """AL states first, then modes and gains, then drives. `remark` holds what is left to be done.

    Args:
        too_stiff: returns the drives, in ring order, whose gains of before must be replaced first:
            they would catch a joint that falls.
    """

    def __init__(
        self,
        master: EthercatMaster,
        ring: Ring,
        joint_at: Sequence[str],
        too_stiff: Callable[[], Mask],
    ) -> None:
        self.active = False
        self.remark = NO_REASON
        self.recovered: list[int] = []  # slaves that had left OP and are back
        self._master, self._ring, self._joint_at = master, ring, joint_at
        self._readiness = Readiness(ring, master, joint_at)
        self._too_stiff = too_stiff
        self._next_request = np.zeros(len(joint_at))  # [s] of the next request to each slave
        self._left_op: Mask = np.zeros(len(joint_at), dtype=bool)
        self._left_out: Mask = np.zeros(len(joint_at), dtype=bool)
        self._tried: Mask = np.zeros(len(joint_at), dtype=bool)  # enabled since `begin`
        self._why_left_out = NO_REASON
        self._end = 0.0  # [s]

    def begin(self, left_out: Mask, why: Reason) -> None:
        """Begin, or restart the time of the present recovery.

        The drives that are `left_out`, `why`, are disabled. The others are enabled once each: one
        that falls again has a cause that remains. Pending queries continue: with a reset in every
        tick they would never end otherwise.
        """
        self._left_out, self._why_left_out = left_out, why
        self._tried[:] = False
        self._ring.sequencer.disable(left_out)
        self._end = self._ring.machine.clock() + TIMEOUT
        if self.active:
            return
        self.active, self.remark, self.recovered = True, NO_REASON, []
        self._next_request[:] = 0.0
        self._left_op[:] = False
        self._readiness.forget(range(len(self._joint_at)))

    def step(self, statuses: Sequence[AlStatus]) -> None:
        """Continue, given the present AL states of all slaves."""
        now = self._ring.machine.clock()
        in_op = np.array([it.state is AlState.OP and not it.error for it in statuses])
        lost = np.array([it.state not in (AlState.SAFEOP, AlState.OP) for it in statuses])
        self._left_op |= ~in_op
        if now > self._end:  # maybe after a long stall: an old request must move nothing
            self._finish(self._ring.enabled & in_op, lost)
            return
        for slave in np.flatnonzero(~in_op).tolist():
            if now >= self._next_request[slave]:
                self._next_request[slave] = now + STATE_TIMEOUT
                self._lead_to_op(slave, statuses[slave])
        readiness, sequencer = self._readiness, self._ring.sequencer
        readiness.forget(np.flatnonzero(~in_op).tolist())
        candidates = in_op & ~sequencer.wanted & ~self._left_out & ~self._tried
        readiness.query(np.flatnonzero(candidates).tolist())
        ready = candidates & readiness.ready & ~self._too_stiff()
        sequencer.enable(ready, reset_faults=True)
        self._tried |= ready
        readiness.forget(np.flatnonzero(ready).tolist())  # queried anew after another `begin`
        enabled = self._ring.enabled & in_op
        if bool((enabled | lost | self._left_out).all()):
            self._finish(enabled, lost)

    def _lead_to_op(self, slave: int, status: AlStatus) -> None:
        if status.state is AlState.SAFEOP:
            aim = AlState.SAFEOP if status.error else AlState.OP
            self._master.request_slave_state(slave, aim, acknowledge=status.error)

    def _finish(self, enabled: Mask, lost: Mask) -> None:
        self.active = False
        self.recovered = np.flatnonzero(enabled & self._left_op).tolist()
        refused = ~(enabled | lost | self._left_out | self._tried)
        refused_slaves = np.flatnonzero(refused).tolist()
        stiff = np.flatnonzero(refused & self._readiness.ready & self._too_stiff()).tolist()
        unready = (
            self._readiness.problems(refused_slaves),
            joined_by_text((self._joint_at[slave], _NOT_SOFTENED) for slave in stiff),
        )
        problems = [self._why_left_out]
        problems += [Reason.of(DRIVE_NOT_READY, text) for text in unready if text]
        self._ring.sequencer.disable(~enabled)
        # No frame reaches the others: they may be behind a cut cable.
        unconfigured = lost & (np.arange(len(lost)) < self._master.present)
        if unconfigured.any():
            names = ", ".join(self._joint_at[i] for i in np.flatnonzero(unconfigured).tolist())
            text = f"{names}: not configured any more (loss of power): restart the control process"
            problems.append(Reason.of(SLAVE_NOT_CONFIGURED, text))
        self.remark = joined(problems)
