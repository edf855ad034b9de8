"""The loop of a virtual robot's process: buses, control channel and time, in one thread."""

import select
from collections.abc import Sequence
from typing import Final, Protocol

from humanoid_twin.clock import Clock, SteppedClock
from humanoid_twin.control.server import ControlServer
from humanoid_twin.world import World

_LONGEST_WAIT: Final = 0.005  # [s] after which the drives catch up although nothing has come
_SHORTEST_WAIT: Final = 10e-6  # [s]


class Wire(Protocol):
    """The outside of one bus."""

    def fileno(self) -> int:
        """Readable when something has come from outside."""

    @property
    def next_event(self) -> int:
        """When the bus wants to be served although nothing has come [ns]."""

    def serve(self, readable: bool, /) -> bool:
        """Take what has come; True if more that came before now may be waiting.

        `readable` is what select said, a moment ago.
        """

    def settle(self) -> None:
        """Time has advanced: hand out what is due."""


class Loop:
    """Serves the wires of a world until it is told to end.

    select with a timeout wakes exactly at the next event; a receive timeout of a socket would be
    rounded up to the kernel's tick (4 ms).
    """

    def __init__(
        self, world: World, wires: Sequence[Wire], clock: Clock, control: ControlServer
    ) -> None:
        self._world, self._wires, self._clock, self._control = world, tuple(wires), clock, control
        self._steps_by_itself = not isinstance(clock, SteppedClock)

    def run(self, wake: int) -> None:
        """Serve until something can be read from the file descriptor `wake`.

        Raises TwinError if a bus goes away.
        """
        wires = [wire.fileno() for wire in self._wires]
        while True:
            waited = [*wires, wake, *self._control.descriptors()]
            readable, _, _ = select.select(waited, [], [], self._wait())
            if wake in readable:
                return
            now = self._clock.now()
            # Where nothing sent before `now` is waiting, what happens without it may happen.
            if not self._serve(readable) and self._steps_by_itself:
                self._world.advance(now)
            self._settle()
            asked = [descriptor for descriptor in readable if descriptor not in wires]
            for descriptor in asked:
                self._control.serve(descriptor)
            if asked:
                self._settle()

    def _settle(self) -> None:
        for wire in self._wires:
            wire.settle()

    def _serve(self, readable: Sequence[int]) -> bool:
        served = [wire.serve(wire.fileno() in readable) for wire in self._wires]  # all of them
        return any(served)

    def _wait(self) -> float:
        """How long [s] nothing has to be done."""
        if not self._steps_by_itself:
            return 1.0  # the control channel tells the time
        due = min(wire.next_event for wire in self._wires)
        wait = (due - self._clock.now()) / 1e9
        return min(max(wait, _SHORTEST_WAIT), _LONGEST_WAIT)
