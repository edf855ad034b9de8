"""Send a frame through an adapter whose queue may be full."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from humanoid_devices_can.bus.bus import Bus, CanFrame
from humanoid_devices_can.errors import CanBusError, QueueFullError

ROOM: Final = 0.002  # [s] until a full queue is tried again
REPEATS: Final = 3  # of frames that no motor will confirm
UNCONFIRMED: Final = 0.3  # [s] they may take altogether


def send_with_room(
    bus: Bus,
    frame: CanFrame,
    deadline: float,
    clock: Callable[[], float],
    wait: Callable[[float], None],
) -> None:
    """Send a frame as soon as the adapter's queue has room, until `deadline` [s].

    An adapter that can no longer receive may still send. Raises QueueFullError, AdapterLostError.
    """
    while True:
        try:
            return bus.send(frame)
        except QueueFullError:
            if clock() >= deadline:
                raise
        with suppress(CanBusError):
            bus.receive(0.0)  # the adapter's answers in it make room
        wait(ROOM)


def send_unconfirmed(
    bus: Bus,
    frames: Sequence[CanFrame],
    clock: Callable[[], float],
    wait: Callable[[float], None],
) -> None:
    """Send frames several times on a bus that counts as lost. Never raises a CanBusError."""
    deadline = clock() + UNCONFIRMED
    for frame in (*frames,) * REPEATS:
        with suppress(CanBusError):
            send_with_room(bus, frame, deadline, clock, wait)
