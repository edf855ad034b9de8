"""Catalogue of all kinds of faults, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fault_campaign.kinds import (
    can,
    commands,
    controllers,
    encoders,
    joint_streams,
    machine,
    operators,
    policies,
    processes,
    ring,
)
from fault_campaign.kinds.combined import exits, mailboxes, pairs, races, recoveries, serial_lines
from fault_campaign.kinds.kind import Kind
from fault_campaign.kinds.moving import motions, payloads, played, streamed, trajectories
from fault_campaign.robot_joints import PRIME, RobotJoints
from fault_campaign.scenario import Start

_SINGLE: Final = (
    *ring.KINDS,
    *can.KINDS,
    *encoders.KINDS,
    *commands.KINDS,
    *controllers.KINDS,
    *policies.KINDS,
    *processes.KINDS,
    *joint_streams.KINDS,
    *machine.KINDS,
    *operators.KINDS,
)

_STEPPED_ONLY: Final = (
    *races.KINDS,
    *exits.KINDS,
    *recoveries.KINDS,
    *serial_lines.KINDS,
    *mailboxes.KINDS,
    *motions.KINDS,
    *trajectories.KINDS,
    *played.KINDS,
    *payloads.KINDS,
    *streamed.KINDS,
)


def kinds_of(robot: RobotJoints, *, stepped: bool = False) -> dict[str, Kind]:
    """Return the kinds of a robot by name: all that strike one of its joints.

    `stepped`: return the kinds of the stepped robot instead of the kinds in wall time.
    """
    kinds = [kind for kind in _SINGLE if not kind.kernel] if stepped else list(_SINGLE)
    kinds += _STEPPED_ONLY if stepped else ()
    fitted = [kind.on(robot) for kind in kinds]
    single = [kind for kind in fitted if kind.joints]
    both = pairs.pairs(single)
    both += [pairs.pair_in(Start.JOINT_STREAM, "joint stream", single)] if stepped else []
    return _by_name([*single, *both])


def _by_name(kinds: Sequence[Kind]) -> dict[str, Kind]:
    found = {kind.name: kind for kind in kinds}
    if len(found) != len(kinds):
        raise ValueError("two kinds of faults have the same name")
    return found


KINDS: Final = kinds_of(PRIME)
STEPPED: Final = kinds_of(PRIME, stepped=True)
