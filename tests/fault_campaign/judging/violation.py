"""Types of violations: for every type a control has a defect that the judge must find."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class ViolationType(StrEnum):
    """Types of violations."""

    # Of the truth, by the judge.
    NO_DATA = "no data"
    SPEED = "speed"
    EFFORT = "effort"
    JUMP = "jump"
    NEVER_SOFT = "never soft"
    SOFT_TOO_LATE = "soft too late"
    DRIVEN = "driven"
    NOT_DAMPED = "not damped"
    CONTACT = "contact"
    # Of the messages of the robot.
    NOT_REACHED = "fault not reached"
    REFUTED = "wrong at once"
    NO_FALL = "no fall stated"
    WRONG_CAUSE = "wrong cause"
    NOT_DIAGNOSED = "fall not diagnosed"
    LEFT = "left its mode"
    UP_AGAIN = "up again by itself"
    SILENT = "no statements"
    # Of the recovery.
    REFUSED = "clear_fault refused"
    NOT_WELL = "not healthy again"
    # Of the processes.
    DIED = "process died"
    TRACEBACK = "traceback"
    DID_NOT_END = "had to be killed"
    # Of the ring, on the stepped robot.
    SDO_WRITE = "SDO write"
    # Of the black box.
    LOST = "black box"


@dataclass(frozen=True, slots=True)
class Violation:
    """One violation. The same violation at another time is equal."""

    type: ViolationType
    text: str
    at: float | None = field(default=None, compare=False)  # [s] robot time; None: unknown

    def __str__(self) -> str:
        return f"{self.type}: {self.text}"
