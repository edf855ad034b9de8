"""The reason that the robot must give for a fall."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from humanoid_control_common.rules.safety import SafetyFlag


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """Required reason of a fall: in a safety report or, without a source, in the statement."""

    codes: tuple[str, ...] = ()  # reason codes, one of which is required; empty: any
    named: tuple[str, ...] = ()  # joints and programs that the text must name
    source: str = ""  # of the SafetyStatus; empty: none is expected
    flags: SafetyFlag = SafetyFlag.NONE  # flags that it must have; others may be set, too

    def __bool__(self) -> bool:
        """Return True if a reason is required."""
        return bool(self.codes or self.named)

    def fits(self, codes: Collection[str], text: str) -> bool:
        """Return whether a reason has one of the codes, and a text with all names."""
        coded = not self.codes or any(code in codes for code in self.codes)
        return coded and all(name in text for name in self.named)
