"""The ring's end of the cable: frames are answered first, then the robot catches up."""

from collections import deque

from humanoid_twin.clock import Clock, SteppedClock
from humanoid_twin.ethercat.capture import Capture
from humanoid_twin.ethercat.losses import Fate, Losses
from humanoid_twin.ethercat.miscount import miscount
from humanoid_twin.ethercat.port import PacketPort
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.world import World


class RingServer:
    """Moves frames between a port and a ring: a `Wire` of the loop."""

    def __init__(
        self,
        ring: VirtualRing,
        world: World,
        port: PacketPort,
        clock: Clock,
        losses: Losses,
        capture: Capture | None = None,
    ) -> None:
        self._ring, self._world, self._port, self._clock = ring, world, port, clock
        self._losses, self._capture = losses, capture
        self._late: deque[tuple[int, bytes]] = deque()  # ring time [ns] to send at, frame
        self._overtaken: list[bytes] = []  # wait for the next answer
        self._stamped = not isinstance(clock, SteppedClock)

    def fileno(self) -> int:
        """For select."""
        return self._port.fileno()

    @property
    def next_event(self) -> int:
        """When SYNC0 fires or a late answer is due [ns]."""
        due = self._ring.next_event
        return min(due, self._late[0][0]) if self._late else due

    def serve(self, readable: bool) -> bool:
        """See Wire: answers one frame, be it one that came after select had looked.

        Raises RingError if the interface is gone.
        """
        del readable
        frame = self._port.receive()
        if frame is None:
            if self._capture:
                self._capture.flush()
            return False
        self._answer(frame)
        return True

    def settle(self) -> None:
        """See Wire: sends the late answers that are due."""
        while self._late and self._late[0][0] <= self._ring.now:
            self._send(self._late.popleft()[1])

    def _answer(self, frame: memoryview) -> None:
        ring = self._ring
        self._reach(self._clock.arrival(self._port.age() if self._stamped else 0))
        if self._capture:
            self._capture.add(ring.now, frame)
        fate = self._losses.fate()
        if fate is Fate.DAMAGED:
            ring.damage(frame, self._losses.random.randrange(len(ring.line.reachable) + 1))
        elif fate is not Fate.LOST_ON_THE_WAY and ring.answer(frame):
            self._hand_out(frame, fate)
        self._world.advance(ring.now)

    def _hand_out(self, frame: memoryview, fate: Fate) -> None:
        if fate is Fate.LATE:
            due = self._ring.now + round(self._losses.lateness * 1e9)
            self._late.append((due, bytes(frame)))
        elif fate is Fate.OVERTAKEN:
            self._overtaken.append(bytes(frame))
        elif fate is not Fate.LOST_ON_THE_WAY_BACK:
            if fate is Fate.MISCOUNTED:
                miscount(frame)
            for answer in (frame, frame) if fate is Fate.DOUBLED else (frame,):
                self._send(answer)
            while self._overtaken:
                self._send(self._overtaken.pop(0))

    def _reach(self, now: int) -> None:
        """A frame has come at ring time `now` [ns]: do first what the answer depends on.

        Between two SYNC0 nothing but mailboxes and registers can be seen from the wire, so drives
        and plant may be advanced after the answer.
        """
        if self._ring.next_event <= now:
            self._world.advance(now)
        moment = self._ring.moment
        moment.now = max(now, moment.now)

    def _send(self, frame: memoryview | bytes) -> None:
        self._port.send(frame)
        if self._capture:
            self._capture.add(self._ring.now, frame)
