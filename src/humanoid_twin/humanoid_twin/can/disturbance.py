"""Faults on the cable."""

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from random import Random

from humanoid_twin.can.frame import CanFrame
from humanoid_twin.clock import NEVER

Receivers = list[Callable[[CanFrame, int], None]]


@dataclass(slots=True)
class Disturbance:
    """Decides which of the frames that would get through are lost, late, doubled or destroyed."""

    random: Random = field(default_factory=lambda: Random(0))
    lost_probability: float = 0.0  # of being acknowledged and then lost in the receivers' buffers
    late_probability: float = 0.0  # of being held up in the receivers' buffers
    lateness: int = 0  # [ns] for so long
    double_probability: float = 0.0  # of being received twice
    corrupt_next: int = 0  # frames to destroy on the wire; their senders repeat them
    due: int = NEVER  # [ns] when the next late frame arrives
    _held: list[tuple[int, int, Callable[[int], object]]] = field(default_factory=list)
    _count: int = 0  # of what is late, which keeps its order

    def corrupts(self) -> bool:
        """Return whether the frame that starts now is destroyed."""
        if not self.corrupt_next:
            return False
        self.corrupt_next -= 1
        return True

    def loses(self) -> bool:
        """Return whether a frame is lost after the wire."""
        return self._strikes(self.lost_probability)

    def deliver(self, frame: CanFrame, receivers: Receivers, now: int) -> None:
        """Hand a frame that got through at `now` [ns] to its receivers: once, twice, or later."""
        if self._strikes(self.double_probability):
            receivers = receivers * 2
        if self._strikes(self.late_probability):
            self.delay(now + self.lateness, lambda at: _hand_over(frame, receivers, at))
        else:
            _hand_over(frame, receivers, now)

    def delay(self, until: int, act: Callable[[int], object]) -> None:
        """Call `act` with the time [ns] `until`; what is due together keeps its order."""
        self._count += 1
        heappush(self._held, (until, self._count, act))
        self.due = self._held[0][0]

    def release(self, now: int) -> None:
        """Do what is due."""
        _, _, act = heappop(self._held)
        self.due = self._held[0][0] if self._held else NEVER
        act(now)

    def _strikes(self, probability: float) -> bool:
        return probability > 0 and self.random.random() < probability


def _hand_over(frame: CanFrame, receivers: Receivers, now: int) -> None:
    for receive in receivers:
        receive(frame, now)
