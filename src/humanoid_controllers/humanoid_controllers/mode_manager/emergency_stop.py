"""The operator's stop, held until `clear_fault`, and the heartbeats whose end is a stop.

This stop is software: it needs this process, the computer and the network. It does not replace an
emergency stop that cuts the power.
"""

from collections.abc import Mapping
from typing import Final

from humanoid_control_common.safety import SafetyLevel, SafetyReport

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
        self._stop = ""  # its reason; empty while there is none

    def press(self, origin: str) -> None:
        """Stop. `origin` is the topic or device of the request, for the message."""
        self._stop = self._stop or f"emergency stop ({origin})"

    def beat(self, name: str, now: float) -> None:
        """Take a heartbeat of `name` at `now` [s]. Ignore names that are not required."""
        if name in self._deadlines:
            self._look(now)  # a late beat does not undo the stop that its lateness is
            self._latest_beat[name] = now

    def problem(self, now: float) -> str:
        """Return why stiff modes must be left at `now` [s]; empty if they need not."""
        self._look(now)
        return self._stop

    def refusal(self) -> str:
        """Return why no stiff mode may begin, even if none must be left; empty if one may."""
        missing = [name for name in self._deadlines if name not in self._latest_beat]
        return f"no heartbeat of {', '.join(missing)} yet" if missing else ""

    def release(self, now: float) -> None:
        """End the stop. A heartbeat that is still silent is a new one."""
        self._stop = ""
        self._look(now)

    def report(self, now: float) -> SafetyReport:
        """Return the report for /safety_status."""
        problem, refusal = self.problem(now), self.refusal()
        if problem:
            return SafetyReport(SOURCE, SafetyLevel.CRITICAL, message=problem)
        level = SafetyLevel.WARNING if refusal else SafetyLevel.OK
        return SafetyReport(SOURCE, level, message=refusal)

    def _look(self, now: float) -> None:
        for name, arrival in self._latest_beat.items():
            deadline = self._deadlines[name]
            if now - arrival > deadline and not self._stop:
                # No age in the text: it would make each report another message.
                self._stop = f"heartbeat of {name} ended (deadline {deadline:g} s)"
