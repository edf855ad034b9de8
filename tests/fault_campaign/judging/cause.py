"""The reason that the robot must give for a fall."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from humanoid_control_common.rules.safety import SafetyFlag


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Required reason of a fall: in a safety report or, without a source, in the statement."""

    codes: tuple[str, ...] = ()  # reason codes, one of which must be given; empty: any
    named: tuple[str, ...] = ()  # joints and programs that the text must name
    source: str = ""  # of the SafetyStatus; empty: none is expected
    flags: SafetyFlag = SafetyFlag.NONE  # in it, among others

    def __bool__(self) -> bool:
        """Return True if it demands anything."""
        return bool(self.codes or self.named)

    def fits(self, codes: Collection[str], text: str) -> bool:
        """Return whether a reason has one of the codes, and a text with all names."""
        coded = not self.codes or any(code in codes for code in self.codes)
        return coded and all(name in text for name in self.named)
