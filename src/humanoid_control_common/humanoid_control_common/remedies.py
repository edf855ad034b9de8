"""Symptom, meaning, fix: what to do about what the robot says. Each package keeps its own table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remedy:
    """One row of a table of remedies, in plain words."""

    symptom: str  # as the robot shows it
    meaning: str
    fix: str
    pattern: str = ""  # regular expression that finds it in a message; else the symptom's words

    def explains(self, text: str) -> bool:
        """Whether the symptom is in `text`; capital letters or small ones."""
        pattern = self.pattern or rf"(?<!\w){re.escape(self.symptom)}(?!\w)"
        return re.search(pattern, text, re.IGNORECASE) is not None


def remedies_for(text: str, table: Iterable[Remedy]) -> list[Remedy]:
    """The rows whose symptom is in `text`, in the table's order."""
    return [remedy for remedy in table if remedy.explains(text)]
