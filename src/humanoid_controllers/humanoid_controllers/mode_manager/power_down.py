"""The way down: DAMPING until the joints are slow, then no torque."""

from typing import Final

from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controllers.mode_manager.mode_manager import ModeManager

SETTLE_LIMIT: Final = 6.0  # [s] for DAMPING and slow joints; a raised arm sinks in about three
ZERO_LIMIT: Final = 1.5  # [s] for ZERO_TORQUE and its gains


class PowerDown:
    """Leads the loop through DAMPING to ZERO_TORQUE, a step in each call of `advance`.

    Args:
        modes: the mode manager. It must refuse requests, which would interfere.
        now: start time [s], on the clock of every `advance`.
    """

    def __init__(self, modes: ModeManager, now: float) -> None:
        self.remarks: list[str] = []  # deviations from the planned course
        self._modes = modes
        self._goal = Mode.DAMPING
        self._since = now  # of the present goal

    def advance(self, snapshot: Snapshot, now: float) -> bool:
        """Return True once the hardware shall be deactivated; until then request the next step.

        `snapshot` is the one that the mode manager has observed at `now` [s].
        """
        if self._modes.standstill:
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
        self._modes.go_down(Mode.ZERO_TORQUE)
        return False

    def _motion(self, snapshot: Snapshot) -> str:
        """Return why the damping must stay; empty if it may be removed."""
        rest = self._modes.rest
        if snapshot.mode is Mode.ZERO_TORQUE:
            return ""  # it is removed already
        rest.update(snapshot)
        if snapshot.mode is not Mode.DAMPING:
            self._modes.go_down(Mode.DAMPING)
            return f"still in {snapshot.mode.name}"
        if rest.moving:
            return f"still moving: {rest.moving}"
        return "still settling" if rest.settling else ""

    def _gains(self, snapshot: Snapshot, now: float) -> str:
        """Return why the joints may still have gains; empty if they have none."""
        if snapshot.mode is not Mode.ZERO_TORQUE:
            self._modes.go_down(Mode.ZERO_TORQUE)
            return f"still in {snapshot.mode.name}"
        return self._modes.unconfirmed(snapshot, now).text
