"""The claim on a bus: one control process drives its motors, with its guard."""

import os
import socket
from typing import Final, Protocol

from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.bus import BusSettings
from humanoid_devices_can.errors import InterfaceError

TIMEOUT: Final = 5.0  # [s] a guard may take to disable the motors of a dead control process
_PERIOD: Final = 0.02  # [s] between two attempts


class Claim(Protocol):
    """Holds the bus until all its copies are closed, or their processes end."""

    def fileno(self) -> int:
        """Return the descriptor that the guard process inherits."""

    def close(self) -> None:
        """Close this copy."""


def claim(bus: BusSettings, machine: Machine, timeout: float | None = None) -> Claim:
    """Claim the bus.

    Two control processes would undo each other's commands. Raises InterfaceError if another one
    holds the bus for `timeout` [s], by default for as long as its guard may need.
    """
    # A device has many paths, relative and linked ones; a network interface has none.
    channel = bus.channel
    if bus.interface == "slcan":  # PORT@BAUD_RATE
        channel = channel.partition("@")[0]
    if os.sep in channel:
        channel = os.path.realpath(channel)
    address = f"\0humanoid_control.can.{bus.interface}.{channel}"
    taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    deadline = machine.clock() + (TIMEOUT if timeout is None else timeout)
    while True:
        try:
            taken.bind(address)
        except OSError as error:
            if machine.clock() > deadline:
                taken.close()
                raise InterfaceError(
                    f"{bus}: another process drives its motors already: end it first (or does "
                    "another block of the robot description? A bus has one)"
                ) from error
            machine.sleep(_PERIOD)
        else:
            return taken
