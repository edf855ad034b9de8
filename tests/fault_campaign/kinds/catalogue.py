"""Catalogue of all kinds of faults, by name."""

from __future__ import annotations

from typing import Final

from fault_campaign.kinds import (
    can,
    commands,
    controllers,
    encoders,
    machine,
    operators,
    pairs,
    processes,
    ring,
)
from fault_campaign.kinds.kind import Kind

_SINGLE: Final = (
    *ring.KINDS,
    *can.KINDS,
    *encoders.KINDS,
    *commands.KINDS,
    *controllers.KINDS,
    *processes.KINDS,
    *machine.KINDS,
    *operators.KINDS,
)
_ALL: Final = (*_SINGLE, *pairs.pairs(_SINGLE))
KINDS: Final[dict[str, Kind]] = {kind.name: kind for kind in _ALL}
if len(KINDS) != len(_ALL):
    raise ValueError("two kinds of faults have the same name")
