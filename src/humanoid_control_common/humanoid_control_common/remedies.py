"""Remedies: symptom, meaning and fix of messages. Each package has its own table."""

import re
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remedy:
    """One row of a table of remedies."""

    symptom: str  # as in the message
    meaning: str
    fix: str
    pattern: str = ""  # regular expression for messages; empty: the symptom's words

    def explains(self, text: str) -> bool:
        """Return whether `text` contains the symptom, in any case of letters."""
        pattern = self.pattern or rf"(?<!\w){re.escape(self.symptom)}(?!\w)"
        return re.search(pattern, text, re.IGNORECASE) is not None


def remedies_for(text: str, table: Iterable[Remedy]) -> list[Remedy]:
    """Return the rows whose symptom is in `text`, in the table's order."""
    return [remedy for remedy in table if remedy.explains(text)]
