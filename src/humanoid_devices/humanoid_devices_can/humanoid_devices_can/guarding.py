"""Which motors need a guard, and what it must say to them."""

from __future__ import annotations

from typing import Final

import numpy as np

from humanoid_control_common.surface import JointCommand
from humanoid_devices_can.bus import LONGEST_PAYLOAD, CanFrame, OpenBus, PythonCanBus
from humanoid_devices_can.errors import WireError
from humanoid_devices_can.family import Family
from humanoid_devices_can.settings import CanSettings

_OF_ONE_PROCESS: Final = "virtual"  # python-can's bus that no other process can open
_LAST_BYTES: Final = range(0x100)


def is_to_be_guarded(settings: CanSettings, family: Family, open_bus: OpenBus) -> bool:
    """Whether there are motors without a watchdog, a guard is wanted, and it could reach them."""
    reachable = open_bus is PythonCanBus and settings.bus.interface != _OF_ONE_PROCESS
    helpless = not np.isfinite(family.watchdog).all()
    return reachable and helpless and settings.guard_timeout > 0.0


def disabling_frames(family: Family) -> tuple[CanFrame, ...]:
    """What takes the torque from all motors, each in two ways: disabled, and without gains.

    What helps most comes first: an adapter whose answers somebody else reads may take 5 frames.
    """
    motors = len(family.watchdog)
    limp = JointCommand(motors)
    gains, commands = family.gains(limp), family.commands(limp)
    orders = [family.disabling(motor, clear_faults=False).request for motor in range(motors)]
    return (*(frame for order in orders for frame in order), *gains, *commands)


def voices(family: Family) -> tuple[int, ...]:
    """Identifiers with which motors say what they measure; none if they can't be told beforehand.

    The family is asked for each that differs from one of an order in the last byte, where a motor
    whose orders and feedback share their identifiers has the type of message.
    """
    beginnings = {identifier >> 8 for identifier, _ in disabling_frames(family)}
    candidates = (start << 8 | last for start in sorted(beginnings) for last in _LAST_BYTES)
    return tuple(identifier for identifier in candidates if _is_feedback(family, identifier))


def _is_feedback(family: Family, identifier: int) -> bool:
    try:
        family.decode(identifier, bytes(LONGEST_PAYLOAD))
    except WireError:
        return False
    return True
