"""A process of the virtual robot as it is put together: physics, buses, commands, and its loop."""

import sys
from contextlib import ExitStack
from pathlib import Path

from humanoid_twin.clock import Moment, SteppedClock, WallClock
from humanoid_twin.control.commands import CommandTable, TimeCommands
from humanoid_twin.control.server import ControlServer
from humanoid_twin.ethercat.firmware import Physics
from humanoid_twin.loop import Loop, Wire
from humanoid_twin.process import be_on_time, stop_signals
from humanoid_twin.world import Side, World


class Assembly:
    """A plant, to which buses are added; `run` then serves them until the process shall end."""

    def __init__(
        self, plant: Physics, *, stepped: bool, cleanup: ExitStack, ignore_interrupt: bool = False
    ) -> None:
        """`stepped`: time passes by frames and by command only. `cleanup` closes everything.

        `ignore_interrupt`: only SIGTERM ends it.
        """
        self._wake = stop_signals(cleanup, ignore_interrupt=ignore_interrupt)
        self.cleanup = cleanup
        self.clock = SteppedClock() if stepped else WallClock()
        self.moment = Moment()
        self.world = World(plant, self.moment)
        self.commands = CommandTable()
        self.commands.add(TimeCommands(self.world, self.clock))
        self._wires: list[Wire] = []

    def add(self, side: Side, wire: Wire, commands: object, prefix: str = "") -> None:
        """One more bus: its inside, its outside, and what can be asked about it."""
        self.world.add(side)
        self._wires.append(wire)
        self.commands.add(commands, prefix)

    def run(self, control: Path | None, greeting: str, *, realtime: bool) -> None:
        """Say the greeting on stdout, then serve until it is asked to end.

        Raises TwinError if there can be no control channel at `control`, or a bus goes away.
        """
        channel = ControlServer(control, self.commands.execute)
        self.cleanup.callback(channel.close)
        be_on_time(realtime=realtime)
        sys.stdout.write(f"{greeting}\n")
        sys.stdout.flush()
        Loop(self.world, self._wires, self.clock, channel).run(self._wake)
