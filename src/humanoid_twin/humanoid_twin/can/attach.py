"""Attach a CAN bus to a process: its adapter, its endpoint in the loop and its commands."""

import socket
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from humanoid_twin.can.adapters.slcan import SlcanPort
from humanoid_twin.can.adapters.socketcan import SocketCanPort, open_interface
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.commands import CanCommands
from humanoid_twin.can.motors.build import VirtualCan
from humanoid_twin.clock import NEVER
from humanoid_twin.scheduler import Scheduler
from humanoid_twin.twin_process import TwinProcess

# USB adapters hand over frames every 1 to 16 ms, not one by one. The robot's own time is exact
# whenever this process wakes, and waking costs processor time.
_HAND_OVER: Final = 2_000_000  # [ns]


class CanServer:
    """Moves frames between an adapter and its bus: a `BusEndpoint` of the loop."""

    def __init__(self, scheduler: Scheduler, port: SlcanPort | SocketCanPort) -> None:
        self._scheduler, self._port = scheduler, port
        self._waiting = False

    def fileno(self) -> int:
        """For select."""
        return self._port.fileno()

    @property
    def next_event(self) -> int:
        """See BusEndpoint: the time of the next hand-over, while a host is on the bus."""
        if not self._port.controller.powered:
            return NEVER
        return -(-self._scheduler.next_step // _HAND_OVER) * _HAND_OVER

    def serve(self, readable: bool) -> bool:
        """See BusEndpoint: the host's bytes carry no time, so the robot is advanced first."""
        self._waiting = readable
        return False

    def settle(self) -> None:
        """See BusEndpoint: pass the host's frames to the adapter, and the adapter's to the host."""
        if self._waiting:
            self._waiting = False
            self._port.serve(self._scheduler.now)
        self._port.hand_over()


def add_can(process: TwinProcess, can: VirtualCan, place: str, prefix: str) -> CanCommands:
    """Make a CAN bus part of a process. Return its commands, whose names begin with `prefix`.

    `place` is the name of a SocketCAN interface of this machine, or the path of a serial line
    (slcan) to be made. Raises AdapterError if the adapter can't be made.
    """
    port = _port(can.bus, place, process.cleanup)
    commands = CanCommands(can, port)
    process.add(can, CanServer(process.scheduler, port), commands, prefix)
    return commands


def _port(bus: VirtualCanBus, place: str, cleanup: ExitStack) -> SlcanPort | SocketCanPort:
    port: SlcanPort | SocketCanPort
    if place in (name for _, name in socket.if_nameindex()):
        port = SocketCanPort(bus, open_interface(place))
    else:
        port = SlcanPort(bus, Path(place), gathers=True)
    cleanup.callback(port.close)
    return port
