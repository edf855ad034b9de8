"""What the loop itself watches: the ROS side, and whether measurements can be believed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from humanoid_control_common.modes import SAFE_MODES, Mode
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.hardware_group import HardwareGroup
from humanoid_controller_manager.limits import LimitStage
from humanoid_controller_manager.safety_trip import SafetyTrip

HEARTBEAT_LIMIT: Final = 0.2  # [s] the ROS side may be silent before the loop goes to DAMPING


class Supervision:
    """Finds reasons to leave the controller in charge.

    Args:
        monotonic: the time heartbeats are measured in [s].
    """

    def __init__(
        self, hardware: HardwareGroup, limits: LimitStage, monotonic: Callable[[], float]
    ) -> None:
        self.trip: SafetyTrip | None = None  # None: whatever is measured is believed
        self._hardware = hardware
        self._limits = limits
        self._monotonic = monotonic
        self._heartbeat: float | None = None
        self._looked = monotonic()
        self._teleports = hardware.teleports
        self._implausible = ""
        self._not_following = ""

    def heartbeat(self) -> None:
        """The ROS side is alive. Supervised from the first call on. Called from any thread."""
        self._heartbeat = self._monotonic()

    def stalled(self, mode: Mode) -> str:
        """Whether the ROS side has been silent for too long for `mode`, in words.

        If this loop, too, stood still for so long, it was the whole process.
        """
        now = self._monotonic()
        before, self._looked = self._looked, now
        if self._heartbeat is None or mode in SAFE_MODES:
            return ""
        silence, gap = now - self._heartbeat, now - before
        if silence <= HEARTBEAT_LIMIT:
            return ""
        if gap > HEARTBEAT_LIMIT:
            return f"the control process was held up for {gap:.2f} s"
        return f"ROS side silent for {silence:.2f} s"

    def look(self, state: JointState, command: JointCommand, period: float) -> None:
        """Judge what was measured under `command`, in force for `period` [s].

        A first implausible sample in `state` is replaced by the last good one.
        """
        if self.trip is None:
            return
        if self._teleports != self._hardware.teleports:
            self._teleports = self._hardware.teleports
            self._limits.restart()
            self.trip.restart()
        stiffness = self._limits.acting_stiffness(command)
        self._not_following = self.trip.check_following(state, command.position, stiffness, period)
        self._implausible = self.trip.check(state, period, self._hardware.sample_age)

    def implausible(self, mode: Mode) -> str:
        """Why what was measured forbids `mode`; in a safe mode only what is new.

        DAMPING has nothing to fall to, but the operator has to know.
        """
        if mode not in SAFE_MODES:
            return self._hardware.unread() or self._implausible or self._not_following
        return self._implausible if self.trip and self._implausible and self.trip.is_new else ""

    def mode_begins(self) -> None:
        """What was asked of the joints before is no measure of what is asked from now on."""
        self._limits.restart()
        if self.trip is not None:
            self.trip.begin_mode()
