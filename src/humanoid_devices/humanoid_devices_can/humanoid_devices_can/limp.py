"""What keeps motors content, and soft, while nobody commands them."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from humanoid_control_common.surface import JointCommand
from humanoid_devices_can.family import Family
from humanoid_devices_can.gains_memory import GainsMemory
from humanoid_devices_can.motor_state import MotorState
from humanoid_devices_can.outbox import Item, Kind


def limp_items(
    family: Family,
    states: Sequence[MotorState],
    memory: GainsMemory,
    motors: Collection[int],
    now: float,
) -> list[Item]:
    """What has `motors` give no torque at `now` [s], gains first and as often as ever.

    They are to be where they are measured: one that has lost its gains must not move, either.
    """
    raw = JointCommand(len(states))
    raw.position[:] = [s.position if math.isfinite(s.position) else 0.0 for s in states]
    commands, gains = family.commands(raw), family.gains(raw)
    return [
        *(Item(Kind.GAINS, i, gains[i], now) for i in memory.due(gains, now) if i in motors),
        *(Item(Kind.COMMAND, i, commands[i], now) for i in motors),
    ]
