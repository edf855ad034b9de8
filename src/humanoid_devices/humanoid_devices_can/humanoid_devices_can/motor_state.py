"""The latest that is known of one motor."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

from humanoid_devices_can.family import Feedback


@dataclass(frozen=True, slots=True)
class MotorState:
    """Merged from the feedback so far, in the motor's frame. Unmeasured values are NaN."""

    stamp: float = -math.inf  # [s] when the latest frame came
    position: float = math.nan  # [rad]
    velocity: float = math.nan  # [rad/s]
    effort: float = math.nan  # [Nm]
    enabled: bool | None = None  # None: the family doesn't tell
    fault: str = ""
    report: str = ""
    hot: bool = False
    warned: bool = False
    temperature_celsius: float | None = None
    at_rail: bool = False

    @property
    def measured(self) -> bool:
        """Whether all that the surface needs was measured."""
        return math.isfinite(self.position + self.velocity + self.effort)

    def updated(self, feedback: Feedback, now: float) -> MotorState:
        """With what one more frame said at `now` [s]."""
        values = (
            getattr(self, name) if value is None else value
            for name in _MERGED
            for value in (getattr(feedback, name),)
        )
        return MotorState(now, *values)


_MERGED = tuple(field.name for field in fields(MotorState))[1:]
