"""All kinds of faults, by name."""

from __future__ import annotations

from typing import Final

from faults.kind import Kind
from faults.kinds import (
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
