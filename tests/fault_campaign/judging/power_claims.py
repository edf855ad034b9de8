"""Compare the reports of the stack about disabled motors with the truth."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

_UNCONFIRMED: Final = re.compile(r"not confirmed that it is disabled: (.*)", re.DOTALL)
_NOT_DISABLED: Final = re.compile(r"not disabled: (.*)", re.DOTALL)
_ENDS: Final = "joints may still be powered"  # first words of the report of an exit that fails
_MAY_BE: Final = re.compile(r"may still be enabled: (.*)", re.DOTALL)


def confirmed_at_exit(joints: Sequence[str], lines: Collection[str]) -> list[str]:
    """Return the `joints` of a CAN bus that an exit reports as disabled, by the lines of its log.

    An exit that names no motor has disabled all of them.
    """
    text = "\n".join(line for line in lines if _ENDS in line)
    found = _UNCONFIRMED.search(text) or _NOT_DISABLED.search(text)
    return list(joints) if found is None else [it for it in joints if it not in found.group(1)]


def confirmed_at_start(joints: Sequence[str], text: str) -> list[str]:
    """Return the `joints` of a CAN bus that a failed bring-up does not report as enabled."""
    found = _MAY_BE.search(text)
    return list(joints) if found is None else [it for it in joints if it not in found.group(1)]


def disabled_by_guard(joints: Sequence[str], report: str) -> list[str]:
    """Return the `joints` that a safety report names as disabled by the guard."""
    found = re.search(r"(?:^|; )([^;]*): disabled by the guard", report)
    return [] if found is None else [it for it in joints if it in found.group(1)]


def false_claims(claimed: Collection[str], is_enabled: Callable[[str], bool]) -> str:
    """Return text about the joints that are reported as disabled and are not; empty: none."""
    return ", ".join(joint for joint in claimed if is_enabled(joint))
