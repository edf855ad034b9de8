"""What a check has found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Level(Enum):
    """How bad it is."""

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
    """As it should be."""
    return Finding(subject, Level.OK, found)


def warning(subject: str, found: str, remedy: str) -> Finding:
    """Not as it should be, but it works."""
    return Finding(subject, Level.WARNING, found, remedy)


def broken(subject: str, found: str, remedy: str) -> Finding:
    """It is at fault."""
    return Finding(subject, Level.BROKEN, found, remedy)


def missing(subject: str, found: str, remedy: str) -> Finding:
    """It does not work."""
    return Finding(subject, Level.MISSING, found, remedy)
