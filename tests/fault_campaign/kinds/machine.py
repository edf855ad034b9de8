"""Faults of the robot's computer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fault_campaign.kinds.kind import Kind, Outcome, Scene

_HOUR: Final = 3600  # [s]


def _clock(seconds: int) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.step_clock(seconds)


KINDS: Final = tuple(
    Kind(
        name=f"machine: clock stepped by {'+' if hours > 0 else '-'}1 h",
        inject=_clock(hours * _HOUR),
        mend=_clock(0),
        outcome=Outcome.STAYS,
        watched=0.8,
    )
    for hours in (1, -1)
)
