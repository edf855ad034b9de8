"""Ends of the robot's programs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

GIVE_UP: Final = 20.0  # [s] limit of the time of a process to end


@dataclass(frozen=True, slots=True)
class UnexpectedEnd:
    """A process that ended without an order of the campaign."""

    label: str
    text: str
