"""Diagnoses of parts of the robot: plain values, for /diagnostics and for operators."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from humanoid_control_common.rules.safety import SafetyLevel


class DiagnosisLevel(IntEnum):
    """Severity, numbered as in diagnostic_msgs/DiagnosticStatus."""

    OK = 0
    WARN = 1
    ERROR = 2
    STALE = 3


CODES: Final = "reason codes"  # key of the codes in diagnostic_msgs/DiagnosticStatus, with spaces
_OF_SAFETY: Final = {
    SafetyLevel.OK: DiagnosisLevel.OK,
    SafetyLevel.WARNING: DiagnosisLevel.WARN,
    SafetyLevel.FAULT: DiagnosisLevel.ERROR,
    SafetyLevel.CRITICAL: DiagnosisLevel.ERROR,
}


def level_of(safety: SafetyLevel) -> DiagnosisLevel:
    """Return the diagnostic level of a safety level."""
    return _OF_SAFETY[safety]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One status. Its name is constant while the robot runs."""

    name: str  # kind and which: "joint: left_elbow_pitch", "control loop: timing"
    level: DiagnosisLevel = DiagnosisLevel.OK
    message: str = ""  # the problem, or that there is none
    values: Mapping[str, str] = field(default_factory=dict)  # units are in the keys
    source: str = ""  # the hardware component concerned, if there is one
    codes: tuple[str, ...] = ()  # reason codes of the problem


def yes_or_no(value: object) -> str:
    """Return a truth value as text for `Diagnosis.values`."""
    return "yes" if value else "no"
