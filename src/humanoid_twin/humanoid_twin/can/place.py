"""A CAN bus behind an adapter: everything between the host's end and the commands about it."""

import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from humanoid_twin.assembly import Assembly
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.commands import CanCommands
from humanoid_twin.can.disturbance import NEVER
from humanoid_twin.can.robot import VirtualCan
from humanoid_twin.can.slcan import SlcanPort
from humanoid_twin.can.socketcan import SocketCanPort, open_interface
from humanoid_twin.world import World

PREFIX: Final = "can_"  # of the commands
# USB adapters hand frames over every one to 16 ms, not one by one as they end. In the robot's own
# time everything happens when it should, whenever this process wakes: waking is what costs.
_HAND_OVER: Final = 2_000_000  # [ns]


class CanServer:
    """Moves frames between an adapter and its bus: a `Wire` of the loop."""

    def __init__(self, world: World, port: SlcanPort | SocketCanPort) -> None:
        self._world, self._port = world, port
        self._waiting = False

    def fileno(self) -> int:
        """For select."""
        return self._port.fileno()

    @property
    def next_event(self) -> int:
        """See Wire: when frames are handed over next, while a host is on the bus."""
        if not self._port.controller.powered:
            return NEVER
        return -(-self._world.next_step // _HAND_OVER) * _HAND_OVER

    def serve(self, readable: bool) -> bool:
        """See Wire: what the host wrote carries no time, so the world is advanced first."""
        self._waiting = readable
        return False

    def settle(self) -> None:
        """See Wire: the host's frames go into the adapter's queue."""
        if self._waiting:
            self._waiting = False
            self._port.serve(self._world.now)


def add_can(process: Assembly, can: VirtualCan, place: str) -> CanCommands:
    """Make a CAN bus part of a process; the commands it can be asked by.

    `place` is the name of a SocketCAN interface, or the path at which a serial line shall be that
    speaks slcan: a name without a slash that is an interface of this machine is the former. Raises
    AdapterError if it can't be had.
    """
    port = _port(can.bus, place, process.cleanup)
    commands = CanCommands(can, port)
    process.add(can, CanServer(process.world, port), commands, PREFIX)
    return commands


def _port(bus: VirtualCanBus, place: str, cleanup: ExitStack) -> SlcanPort | SocketCanPort:
    port: SlcanPort | SocketCanPort
    if place in (name for _, name in socket.if_nameindex()):
        port = SocketCanPort(bus, open_interface(place))
    else:
        port = SlcanPort(bus, Path(place))
    cleanup.callback(port.close)
    return port
