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
    *machine.KINDS,
    *operators.KINDS,
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


def kinds_of(robot: RobotJoints) -> dict[str, Kind]:
    """Return the kinds of a robot by name: all that strike one of its joints."""
    fitted = [kind.on(robot) for kind in _SINGLE]
    single = [kind for kind in fitted if kind.joints]
    both = [*pairs.pairs(single), pairs.pair_in(Start.JOINT_STREAM, "joint stream", single)]
    return _by_name([*single, *both])


def _by_name(kinds: Sequence[Kind]) -> dict[str, Kind]:
    found = {kind.name: kind for kind in kinds}
    if len(found) != len(kinds):
        raise ValueError("two kinds of faults have the same name")
    return found


KINDS: Final = kinds_of(PRIME)
