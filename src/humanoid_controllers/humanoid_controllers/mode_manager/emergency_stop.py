"""The operator's stop, held until `clear_fault`, and the heartbeats whose end is a stop.

This stop is software: it needs this process, the computer and the network. It does not replace an
emergency stop that cuts the power.
"""

from collections.abc import Mapping
from typing import Final

from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controllers.reason_codes import EMERGENCY_STOP, HEARTBEAT_ENDED, HEARTBEAT_MISSING

SOURCE: Final = "emergency_stop"


class EmergencyStop:
    """Holds a stop until `release`.

    Args:
        heartbeats: the longest silence [s] of each required program, by name. Before its first
            beat no stiff mode may begin; after it, silence is a stop.
    """

    def __init__(self, heartbeats: Mapping[str, float] | None = None) -> None:
        self._deadlines = dict(heartbeats or {})
        self._latest_beat: dict[str, float] = {}  # [s] arrival
        self._stop = NO_REASON

    def press(self, origin: str) -> None:
        """Stop. `origin` is the topic or device of the request, for the message.

        The reason replaces that of a heartbeat: silence is found again at the release.
        """
        if EMERGENCY_STOP.name not in self._stop.codes:
            self._stop = Reason.of(EMERGENCY_STOP, f"emergency stop ({origin})")

    def beat(self, name: str, now: float) -> None:
        """Take a heartbeat of `name` at `now` [s]. Ignore names that are not required."""
        if name in self._deadlines:
            self._check_heartbeats(now)  # a late beat does not undo the stop that its delay causes
            self._latest_beat[name] = now

    def problem(self, now: float) -> Reason:
        """Return why stiff modes must be left at `now` [s], if they must."""
        self._check_heartbeats(now)
        return self._stop

    def refusal(self) -> Reason:
        """Return why no stiff mode may begin, even if none must be left."""
        missing = [name for name in self._deadlines if name not in self._latest_beat]
        if not missing:
            return NO_REASON
        return Reason.of(HEARTBEAT_MISSING, f"no heartbeat of {', '.join(missing)} yet")

    def release(self, now: float) -> None:
        """End the stop. A heartbeat that is still silent causes a new one."""
        self._stop = NO_REASON
        self._check_heartbeats(now)

    def report(self, now: float) -> SafetyReport:
        """Return the report for /safety_status."""
        problem, refusal = self.problem(now), self.refusal()
        if problem:
            level, reason = SafetyLevel.CRITICAL, problem
        else:
            level, reason = SafetyLevel.WARNING if refusal else SafetyLevel.OK, refusal
        return SafetyReport(SOURCE, level, message=reason.text, codes=reason.codes)

    def _check_heartbeats(self, now: float) -> None:
        for name, arrival in self._latest_beat.items():
            deadline = self._deadlines[name]
            if now - arrival > deadline and not self._stop:
                # No age in the text: it would make each report another message.
                text = f"heartbeat of {name} ended (deadline {deadline:g} s)"
                self._stop = Reason.of(HEARTBEAT_ENDED, text)
