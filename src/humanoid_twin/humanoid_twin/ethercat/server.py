"""The ring's loop: frames are answered first, then drives and plant catch up."""

import select
from collections import deque
from typing import Final

from humanoid_twin.ethercat.capture import Capture
from humanoid_twin.ethercat.clock import Clock, SteppedClock
from humanoid_twin.ethercat.control_server import ControlServer
from humanoid_twin.ethercat.losses import Fate, Losses
from humanoid_twin.ethercat.port import PacketPort
from humanoid_twin.ethercat.ring import VirtualRing

_LONGEST_WAIT: Final = 0.005  # [s] after which the drives catch up although no frame has come
_SHORTEST_WAIT: Final = 10e-6  # [s]


class RingServer:
    """Moves frames between a port and a ring, and time from a clock to the ring.

    In between it listens to the control channel. select with a timeout wakes exactly at the next
    SYNC0; a receive timeout of the socket would be rounded up to the kernel's tick (4 ms).
    """

    def __init__(
        self,
        ring: VirtualRing,
        port: PacketPort,
        clock: Clock,
        losses: Losses,
        control: ControlServer,
        capture: Capture | None = None,
    ) -> None:
        self._ring, self._port, self._clock = ring, port, clock
        self._losses, self._control, self._capture = losses, control, capture
        self._late: deque[tuple[int, bytes]] = deque()  # ring time [ns] to send at, frame
        self._steps_by_itself = not isinstance(clock, SteppedClock)

    def run(self, wake: int) -> None:
        """Serve until something can be read from the file descriptor `wake`.

        Raises RingError if the interface goes away.
        """
        while True:
            readable, _, _ = select.select(
                [self._port.fileno(), wake, *self._control.descriptors()], [], [], self._wait()
            )
            if wake in readable:
                return
            self._serve()
            for descriptor in readable:
                if descriptor != self._port.fileno():
                    self._control.serve(descriptor)
            self._send_late()

    def _serve(self) -> None:
        now = self._clock.now()
        frame = self._port.receive()
        if frame is not None:
            self._answer(frame)
            return
        if self._steps_by_itself:
            # No frame sent before `now` is waiting, so what happens without one may happen.
            self._ring.advance(now)
        if self._capture:
            self._capture.flush()

    def _answer(self, frame: memoryview) -> None:
        age = self._port.age() if self._steps_by_itself else 0
        ring = self._ring
        ring.reach(self._clock.arrival(age))
        if self._capture:
            self._capture.add(ring.now, frame)
        fate = self._losses.fate()
        if fate is not Fate.LOST_ON_THE_WAY and ring.answer(frame):
            if fate is Fate.LATE:
                due = ring.now + round(self._losses.lateness * 1e9)
                self._late.append((due, bytes(frame)))
            elif fate is Fate.ANSWERED:
                self._send(frame)
        ring.advance(ring.now)

    def _send(self, frame: memoryview | bytes) -> None:
        self._port.send(frame)
        if self._capture:
            self._capture.add(self._ring.now, frame)

    def _send_late(self) -> None:
        while self._late and self._late[0][0] <= self._ring.now:
            self._send(self._late.popleft()[1])

    def _wait(self) -> float:
        """How long [s] nothing has to be done."""
        if not self._steps_by_itself:
            return 1.0  # the control channel tells the time
        due = self._ring.next_sync
        if self._late:
            due = min(due, self._late[0][0])
        wait = (due - self._clock.now()) / 1e9
        return min(max(wait, _SHORTEST_WAIT), _LONGEST_WAIT)
