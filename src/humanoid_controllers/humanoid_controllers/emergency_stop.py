"""The operator's stop: once pressed it holds until `clear_fault`; and heartbeats that must go on.

A stop in software. It needs this process, the computer and the network between: it is no substitute
for one that cuts the power.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from humanoid_control_common.safety import SafetyLevel, SafetyReport

SOURCE: Final = "emergency_stop"


class EmergencyStop:
    """Remembers a stop. Nothing but `release` lets go of it.

    Args:
        heartbeats: the longest silence [s] of everyone who must be there, by name. Before the first
            beat no stiff mode may be begun; once heard, silence is a stop.
    """

    def __init__(self, heartbeats: Mapping[str, float] | None = None) -> None:
        self._deadlines = dict(heartbeats or {})
        self._heard: dict[str, float] = {}  # [s] arrival of the latest beat
        self._stop = ""  # why; empty while there is none

    def press(self, door: str) -> None:
        """Stop. `door`: where the wish came in, for the message."""
        self._stop = self._stop or f"emergency stop ({door})"

    def beat(self, name: str, now: float) -> None:
        """`name` is there at `now` [s]. Whom nobody waits for is ignored."""
        if name in self._deadlines:
            self._look(now)  # a beat that comes late doesn't undo that it was late
            self._heard[name] = now

    def problem(self, now: float) -> str:
        """Why stiff modes must be left at `now` [s]; empty if they needn't."""
        self._look(now)
        return self._stop

    def refusal(self) -> str:
        """Why none may be begun, though none must be left; empty if one may."""
        missing = [name for name in self._deadlines if name not in self._heard]
        return f"no heartbeat of {', '.join(missing)} yet" if missing else ""

    def release(self, now: float) -> None:
        """Let go of the stop; a heartbeat that is still silent is the next one."""
        self._stop = ""
        self._look(now)

    def report(self, now: float) -> SafetyReport:
        """What operators are shown."""
        problem, refusal = self.problem(now), self.refusal()
        if problem:
            return SafetyReport(SOURCE, SafetyLevel.CRITICAL, message=problem)
        level = SafetyLevel.WARNING if refusal else SafetyLevel.OK
        return SafetyReport(SOURCE, level, message=refusal)

    def _look(self, now: float) -> None:
        for name, arrival in self._heard.items():
            deadline = self._deadlines[name]
            if now - arrival > deadline and not self._stop:
                # No age in the text: it would be another message each time.
                self._stop = f"heartbeat of {name} ended (deadline {deadline:g} s)"
