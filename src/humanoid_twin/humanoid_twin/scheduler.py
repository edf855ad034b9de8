"""The virtual robot's time: events of its buses, drives and joints, in order."""

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from humanoid_twin.clock import SimulatedTime
from humanoid_twin.ethercat.firmware import STEP
from humanoid_twin.physics.plant import Plant

_STEP_TIME: Final = round(STEP * 1e9)  # [ns]
# Longer gaps between two calls on the wall clock are hold-ups of this machine.
_PAUSE: Final = 8_000_000  # [ns]
_MOST_PAUSES: Final = 1000


class SimulatedBus(Protocol):
    """One bus of the robot with the drives on it."""

    @property
    def next_event(self) -> int:
        """Time of the bus' next event [ns]; far in the future without one."""

    def run(self, now: int) -> None:
        """Run the event that is due at `now` [ns], which is `next_event`."""

    def step(self) -> None:
        """Run one step of all drives' loops: they measure, and set their torques."""

    def tick(self) -> None:
        """Note that the joints have moved."""


class Scheduler:
    """The buses of a robot and the plant they move, advanced together in steps of 1 ms.

    The caller sets the time. A step follows the events of the buses at the same time.
    """

    def __init__(self, plant: Plant, simulated_time: SimulatedTime) -> None:
        """`simulated_time` is shared with the buses."""
        self.plant = plant
        self.simulated_time = simulated_time
        self._buses: list[SimulatedBus] = []
        self.pauses: deque[tuple[int, int]] = deque(maxlen=_MOST_PAUSES)  # end, and length [ns]
        self._next_step = _STEP_TIME
        self._end = 0  # [ns] of the present advance
        self.on_step: Callable[[int], None] = lambda _now: (
            None
        )  # called with the time of each step [ns]

    def add(self, bus: SimulatedBus) -> None:
        """Add a bus; its drives are stepped after those of the earlier buses."""
        self._buses.append(bus)

    @property
    def now(self) -> int:
        """Time reached [ns]."""
        return self.simulated_time.now

    @property
    def next_step(self) -> int:
        """Time of the next step of the drives' loops [ns]."""
        return self._next_step

    def advance(self, now: int) -> None:
        """Run buses, drives and plant until `now` [ns], a time of the wall clock."""
        reached = self.simulated_time.now
        if now - reached > _PAUSE:
            self.pauses.append((now, now - reached))
        self.run(now)

    def halt(self) -> None:
        """Let the present `run` end when everything at the time reached has been run."""
        self._end = self.simulated_time.now

    def run(self, end: int) -> None:
        """Run buses, drives and plant until `end` [ns], or until `halt`."""
        simulated_time, buses = self.simulated_time, self._buses
        self._end = end
        while True:
            due, event = None, self._next_step
            for bus in buses:
                time = bus.next_event
                if time <= event:
                    due, event = bus, time
            if event > self._end:
                break
            simulated_time.now = event
            if due is None:
                self._step()
            else:
                due.run(event)
        simulated_time.now = max(self._end, simulated_time.now)

    def _step(self) -> None:
        self._next_step += _STEP_TIME
        for bus in self._buses:
            bus.step()
        self.plant.step(STEP)
        for bus in self._buses:
            bus.tick()
        self.on_step(self.simulated_time.now)
