"""The ordered way down: DAMPING until the joints are slow, ZERO_TORQUE until their gains are 0.

What follows, the drives without operation, is the hardware's own exit. No step is waited for
forever: a joint that can't be damped or confirmed must not keep the others powered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from humanoid_control_common.modes import Mode
from humanoid_controller_manager.snapshot import Snapshot
from humanoid_controllers.loop_watch import LoopWatch
from humanoid_controllers.rest import RestWatch

SETTLE_LIMIT: Final = 6.0  # [s] for DAMPING and slow joints; a raised arm sinks in about three
ZERO_LIMIT: Final = 1.5  # [s] for ZERO_TORQUE and its gains


class PowerDown:
    """Leads the loop down, look by look.

    Args:
        rest: tells when the joints have come to rest.
        go_down: has the loop go to a safe mode.
        watch: tells when the loop stands still, and leads nowhere any more.
        unconfirmed: why the gains of ZERO_TORQUE can't be relied on yet; empty if they can.
        now: [s] on the clock of every `look`.
    """

    def __init__(
        self,
        rest: RestWatch,
        go_down: Callable[[Mode], None],
        unconfirmed: Callable[[Snapshot, float], str],
        watch: LoopWatch,
        now: float,
    ) -> None:
        self.remarks: list[str] = []  # what did not go as it should
        self._rest = rest
        self._go_down = go_down
        self._unconfirmed = unconfirmed
        self._watch = watch
        self._goal = Mode.DAMPING
        self._since = now  # of the present goal

    def look(self, snapshot: Snapshot, now: float) -> bool:
        """Whether the hardware is to be deactivated now; if not, ask for what comes next."""
        if self._watch.problem(snapshot.tick, now):
            self.remarks.append("the control loop stood still")
            return True
        if self._goal is Mode.DAMPING:
            obstacle, limit = self._motion(snapshot), SETTLE_LIMIT
        else:
            obstacle, limit = self._gains(snapshot, now), ZERO_LIMIT
        if obstacle:
            if now - self._since <= limit:
                return False
            self.remarks.append(f"{obstacle} after {limit:g} s")
        if self._goal is Mode.ZERO_TORQUE:
            return True
        self._goal, self._since = Mode.ZERO_TORQUE, now
        self._go_down(Mode.ZERO_TORQUE)
        return False

    def _motion(self, snapshot: Snapshot) -> str:
        """What is in the way of taking the damping away."""
        if snapshot.mode is Mode.ZERO_TORQUE:
            return ""  # it is taken away already
        self._rest.look(snapshot)
        if snapshot.mode is not Mode.DAMPING:
            self._go_down(Mode.DAMPING)
            return f"still in {snapshot.mode.name}"
        if self._rest.moving:
            return f"still moving: {self._rest.moving}"
        return self._rest.settling and "still settling"

    def _gains(self, snapshot: Snapshot, now: float) -> str:
        if snapshot.mode is not Mode.ZERO_TORQUE:
            self._go_down(Mode.ZERO_TORQUE)
            return f"still in {snapshot.mode.name}"
        return self._unconfirmed(snapshot, now)
