"""The loop of a virtual robot's process: buses, control channel and time, in one thread."""

import select
from collections.abc import Sequence
from typing import Final, Protocol

from humanoid_twin.clock import Clock, SteppedClock
from humanoid_twin.control.server import ControlServer
from humanoid_twin.scheduler import Scheduler

_LONGEST_WAIT: Final = 0.005  # [s] after which the drives catch up without an event
_SHORTEST_WAIT: Final = 10e-6  # [s]


class Wire(Protocol):
    """The outside of one bus."""

    def fileno(self) -> int:
        """Return a descriptor that is readable when something has come from outside."""

    @property
    def next_event(self) -> int:
        """Time at which the bus needs service although nothing has come [ns]."""

    def serve(self, readable: bool, /) -> bool:
        """Take what has come. Return whether more that came before now may be waiting.

        `readable` is the result of select for the descriptor.
        """

    def settle(self) -> None:
        """Hand out what is due, after time has advanced."""


class Loop:
    """Serves the wires of a robot and its control channel.

    select with a timeout wakes exactly at the next event; a receive timeout of a socket would be
    rounded up to the kernel's tick (4 ms).
    """

    def __init__(
        self, scheduler: Scheduler, wires: Sequence[Wire], clock: Clock, control: ControlServer
    ) -> None:
        self._scheduler, self._wires = scheduler, tuple(wires)
        self._clock, self._control = clock, control
        self._free_running = not isinstance(clock, SteppedClock)

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
            # Only if nothing sent before `now` is waiting may later events happen.
            if not self._serve(readable) and self._free_running:
                self._scheduler.advance(now)
            self._settle()
            requests = [descriptor for descriptor in readable if descriptor not in wires]
            for descriptor in requests:
                self._control.serve(descriptor)
            if requests:
                self._settle()

    def _settle(self) -> None:
        for wire in self._wires:
            wire.settle()

    def _serve(self, readable: Sequence[int]) -> bool:
        served = [wire.serve(wire.fileno() in readable) for wire in self._wires]  # all of them
        return any(served)

    def _wait(self) -> float:
        """Return the time [s] until the next event."""
        if not self._free_running:
            return 1.0  # the control channel advances time
        due = min(wire.next_event for wire in self._wires)
        wait = (due - self._clock.now()) / 1e9
        return min(max(wait, _SHORTEST_WAIT), _LONGEST_WAIT)
