"""The loop's own supervision: the ROS side's heartbeat, and the measurement check."""

from collections.abc import Callable
from typing import Final

from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.reason_codes import PROCESS_HELD_UP, ROS_SIDE_SILENT
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controller_manager.safety.measurement_check import MeasurementCheck

HEARTBEAT_LIMIT: Final = 0.2  # [s] the ROS side may be silent before the loop goes to DAMPING


class LoopMonitor:
    """Finds reasons to leave the controller in charge.

    Args:
        monotonic: the clock of heartbeats [s].
    """

    def __init__(
        self, hardware: HardwareGroup, limits: LimitStage, monotonic: Callable[[], float]
    ) -> None:
        self.check: MeasurementCheck | None = None  # None: all measurements are believed
        self._hardware = hardware
        self._limits = limits
        self._monotonic = monotonic
        self._heartbeat: tuple[float, float] | None = None  # see `_times`
        self._checked_at = monotonic()
        self._teleports = hardware.teleports
        self._implausible = NO_REASON
        self._not_following = NO_REASON

    def heartbeat(self) -> None:
        """Take a sign of life of the ROS side. Called by any thread."""
        self._heartbeat = self._times()

    def stalled(self, mode: Mode) -> Reason:
        """Return why the silence of the ROS side forbids `mode`, if it does.

        A gap as long in the loop's own ticks means that the whole process was held up. Simulated
        joints are held up with it: silence counts for as long as they have moved, too.
        """
        now, simulated = self._times()
        before, self._checked_at = self._checked_at, now
        if self._heartbeat is None or mode in SAFE_MODES:
            return NO_REASON
        silence = min(now - self._heartbeat[0], simulated - self._heartbeat[1])
        gap = now - before
        if silence <= HEARTBEAT_LIMIT:
            return NO_REASON
        if gap > HEARTBEAT_LIMIT:
            return Reason.of(PROCESS_HELD_UP, f"the control process was held up for {gap:.2f} s")
        return Reason.of(ROS_SIDE_SILENT, f"ROS side silent for {silence:.2f} s")

    def _times(self) -> tuple[float, float]:
        """Return the monotonic time, and that of the simulator [s]: the same without one."""
        now = self._monotonic()
        return now, self._hardware.time if self._hardware.simulates_time else now

    def check_measurement(self, state: JointState, command: JointCommand, period: float) -> None:
        """Check `state`, measured under `command`, which was in force for `period` [s].

        A first implausible sample in `state` is replaced by the last good one.
        """
        if self.check is None:
            return
        if self._teleports != self._hardware.teleports:
            self._teleports = self._hardware.teleports
            self._limits.restart()
            self.check.restart()
        stiffness, age = self._limits.acting_stiffness(command), self._hardware.sample_age
        self._not_following = self.check.check_following(
            state, command.position, stiffness, period, age
        )
        self._implausible = self.check.check(state, period, age)

    def implausible(self, mode: Mode) -> Reason:
        """Return why the measurements forbid `mode`; in a safe mode only new findings.

        DAMPING has no fallback, but the operator must know.
        """
        if mode not in SAFE_MODES:
            return self._hardware.read_failure() or self._implausible or self._not_following
        new = self.check is not None and self.check.found_new_problem
        return self._implausible if new else NO_REASON

    def mode_begins(self) -> None:
        """Forget the targets of the mode before."""
        self._limits.restart()
        if self.check is not None:
            self.check.begin_mode()
