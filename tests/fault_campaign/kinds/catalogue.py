"""Catalogue of all kinds of faults, by name."""

from __future__ import annotations

from collections.abc import Sequence
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
    races,
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


def _by_name(kinds: Sequence[Kind]) -> dict[str, Kind]:
    found = {kind.name: kind for kind in (*kinds, *pairs.pairs(kinds))}
    if len(found) != len(kinds) + len(pairs.pairs(kinds)):
        raise ValueError("two kinds of faults have the same name")
    return found


KINDS: Final = _by_name(_SINGLE)
# On the stepped robot.
STEPPED: Final = _by_name([*(kind for kind in _SINGLE if not kind.kernel), *races.KINDS])
