"""Time of the virtual robot: what happens on its buses, in its drives and joints, in order."""

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from humanoid_twin.clock import Moment
from humanoid_twin.ethercat.firmware import STEP, Physics

_STEP_TIME: Final = round(STEP * 1e9)  # [ns]
# A robot on the wall clock is never left alone so long, unless this machine is held up.
_PAUSE: Final = 8_000_000  # [ns]
_MOST_PAUSES: Final = 1000


class Side(Protocol):
    """One bus of the robot with the drives on it."""

    @property
    def next_event(self) -> int:
        """When the bus does something by itself [ns]; far in the future if it doesn't."""

    def run(self, now: int) -> None:
        """Do what is due at `now` [ns], which is `next_event`."""

    def step(self) -> None:
        """One step of all drives' loops: they measure, and set their torques."""

    def tick(self) -> None:
        """The joints have moved."""


class World:
    """The sides of a robot and the plant they move, advanced together in steps of 1 ms.

    Time is told by the caller. Steps are done after what happens on the buses at the same time.
    """

    def __init__(self, plant: Physics, moment: Moment) -> None:
        """`moment` is the one that the sides know as the time being dealt with."""
        self.plant = plant
        self.moment = moment
        self._sides: list[Side] = []
        self.pauses: deque[tuple[int, int]] = deque(maxlen=_MOST_PAUSES)  # end, and length [ns]
        self._next_step = _STEP_TIME
        self.on_step: Callable[[int], None] = lambda _now: None  # told the time of each step [ns]

    def add(self, side: Side) -> None:
        """One more side; its drives are stepped after those of the sides before."""
        self._sides.append(side)

    @property
    def now(self) -> int:
        """Time reached [ns]."""
        return self.moment.now

    @property
    def next_step(self) -> int:
        """When the drives' loops run next [ns]."""
        return self._next_step

    def advance(self, now: int) -> None:
        """Run buses, drives and plant until `now` [ns]."""
        moment = self.moment
        if now - moment.now > _PAUSE:
            self.pauses.append((now, now - moment.now))
        while True:
            due, event = None, self._next_step
            for side in self._sides:
                if side.next_event <= event:
                    due, event = side, side.next_event
            if event > now:
                break
            moment.now = event
            if due is None:
                self._step()
            else:
                due.run(event)
        moment.now = max(now, moment.now)

    def _step(self) -> None:
        self._next_step += _STEP_TIME
        for side in self._sides:
            side.step()
        self.plant.step(STEP)
        for side in self._sides:
            side.tick()
        self.on_step(self.moment.now)
