"""What a part of the robot says of itself: plain values, for /diagnostics and for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from humanoid_control_common.safety import SafetyLevel


class DiagnosisLevel(IntEnum):
    """How bad it is, numbered as in diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


_OF_SAFETY: Final = {
    SafetyLevel.OK: DiagnosisLevel.OK,
    SafetyLevel.WARNING: DiagnosisLevel.WARN,
    SafetyLevel.FAULT: DiagnosisLevel.ERROR,
    SafetyLevel.CRITICAL: DiagnosisLevel.ERROR,
}


def level_of(safety: SafetyLevel) -> DiagnosisLevel:
    """The same badness, in the words of diagnostics."""
    return _OF_SAFETY[safety]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One status. Its name stays the same for as long as the robot is up."""

    name: str  # kind and which: "joint: left_elbow_pitch", "control loop: timing"
    level: DiagnosisLevel = DiagnosisLevel.OK
    message: str = ""  # what is the matter, or that nothing is
    values: Mapping[str, str] = field(default_factory=dict)  # units are in the keys
    source: str = ""  # the hardware component it is about, if it is about one


def yes_or_no(value: object) -> str:
    """A truth as a value of a diagnosis."""
    return "yes" if value else "no"
