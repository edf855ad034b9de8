"""Results of preflight checks."""

from dataclasses import dataclass
from enum import Enum

from humanoid_control_common.errors import ConfigError


class NotReadyError(ConfigError):
    """The machine is not ready; the message names what is missing and the remedy."""


class Level(Enum):
    """Severity of a finding."""

    OK = "ok"
    WARNING = "warning"  # works, but not well, or not for the real robot
    MISSING = "missing"  # does not work
    BROKEN = "broken"  # it is there, and at fault


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    subject: str
    level: Level
    found: str
    remedy: str = ""  # what to do about it, to be copied into a shell where that is possible


def ok(subject: str, found: str) -> Finding:
    """Return a finding without a fault."""
    return Finding(subject, Level.OK, found)


def warning(subject: str, found: str, remedy: str) -> Finding:
    """Return a finding that does not prevent operation."""
    return Finding(subject, Level.WARNING, found, remedy)


def broken(subject: str, found: str, remedy: str) -> Finding:
    """Return a finding about something present but faulty."""
    return Finding(subject, Level.BROKEN, found, remedy)


def missing(subject: str, found: str, remedy: str) -> Finding:
    """Return a finding that prevents operation."""
    return Finding(subject, Level.MISSING, found, remedy)
