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
    position_stamp: float = -math.inf  # [s] when it was measured latest
    rate_stamp: float = -math.inf  # [s] the same of velocity and effort

    @property
    def measured(self) -> bool:
        """Whether all that the surface needs was measured."""
        return math.isfinite(self.position + self.velocity + self.effort)

    @property
    def measured_at(self) -> float:
        """When [s] the older half of it was measured."""
        return min(self.position_stamp, self.rate_stamp)

    def updated(self, feedback: Feedback, now: float) -> MotorState:
        """With what one more frame said at `now` [s]."""
        told = {name: getattr(feedback, name) for name in _MERGED}
        merged = {n: getattr(self, n) if value is None else value for n, value in told.items()}
        return MotorState(
            stamp=now,
            position_stamp=self.position_stamp if feedback.position is None else now,
            rate_stamp=self.rate_stamp if feedback.velocity is None else now,
            **merged,
        )


_MERGED = tuple(field.name for field in fields(Feedback) if field.name != "motor")
