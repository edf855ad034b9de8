"""One control process per bus, its guard included: two would undo what the other one does."""

from __future__ import annotations

import os
import socket
import time
from typing import Final

from humanoid_devices_can.bus import BusSettings
from humanoid_devices_can.errors import InterfaceError

PATIENCE: Final = 5.0  # [s] a guard may take to disable what its control process has left
_LOOK: Final = 0.02  # [s]


def claim(bus: BusSettings, patience: float | None = None) -> socket.socket:
    """Claim the bus until all copies of the socket are closed, or their processes end.

    Raises InterfaceError if somebody else keeps it for `patience` [s], by default for as long as a
    guard may need.
    """
    # A device has many paths, relative and linked ones; a network interface has none.
    channel = os.path.realpath(bus.channel) if os.sep in bus.channel else bus.channel
    address = f"\0humanoid_control.can.{bus.interface}.{channel}"
    taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        try:
            taken.bind(address)
        except OSError as error:
            if time.monotonic() > deadline:
                taken.close()
                raise InterfaceError(
                    f"{bus}: another process drives its motors already: end it first (or does "
                    "another block of the robot description? A bus has one)"
                ) from error
            time.sleep(_LOOK)
        else:
            return taken
