"""Attach a ring to a process and to a network interface, which no other ring may use."""

import argparse
from collections import deque
from pathlib import Path
from random import Random

from humanoid_twin.assumptions import HELP
from humanoid_twin.clock import NEVER, Clock, SteppedClock
from humanoid_twin.errors import RingError
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.frame_faults import FrameFaults, FrameOutcome, miscount
from humanoid_twin.ethercat.port import Capture, PacketPort
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.name_lock import NameInUseError, NameLock
from humanoid_twin.scheduler import Scheduler
from humanoid_twin.twin_process import TwinProcess


class RingServer:
    """Moves frames between a port and a ring: a `BusEndpoint` of the loop."""

    def __init__(
        self,
        ring: VirtualRing,
        scheduler: Scheduler,
        port: PacketPort,
        clock: Clock,
        frame_faults: FrameFaults,
        capture: Capture | None = None,
    ) -> None:
        self._ring, self._scheduler, self._port, self._clock = ring, scheduler, port, clock
        self._frame_faults, self._capture = frame_faults, capture
        self._late: deque[tuple[int, bytes]] = deque()  # ring time [ns] of sending, frame
        self._overtaken: list[bytes] = []  # wait for the next answer
        self._stamped = not isinstance(clock, SteppedClock)

    def fileno(self) -> int:
        """For select."""
        return self._port.fileno()

    @property
    def next_event(self) -> int:
        """Time of the next SYNC0 or late answer [ns]."""
        return min(self._ring.next_event, self.next_answer)

    @property
    def next_answer(self) -> int:
        """Time of the next late answer [ns]."""
        return self._late[0][0] if self._late else NEVER

    def serve(self, readable: bool) -> bool:
        """See BusEndpoint: answers one frame, also one that came after select.

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
        """See BusEndpoint: sends the late answers that are due."""
        while self._late and self._late[0][0] <= self._ring.now:
            self._send(self._late.popleft()[1])

    def _answer(self, frame: memoryview) -> None:
        ring = self._ring
        self._advance_to(self._clock.arrival(self._port.age() if self._stamped else 0))
        if self._capture:
            self._capture.add(ring.now, frame)
        outcome = self._frame_faults.outcome()
        if outcome is FrameOutcome.DAMAGED:
            ring.damage(frame, self._frame_faults.random.randrange(len(ring.chain.reachable) + 1))
        elif outcome is not FrameOutcome.LOST_ON_THE_WAY and ring.answer(frame):
            self._hand_out(frame, outcome)
        self._scheduler.advance(ring.now)

    def _hand_out(self, frame: memoryview, outcome: FrameOutcome) -> None:
        if outcome is FrameOutcome.LATE:
            due = self._ring.now + round(self._frame_faults.lateness * 1e9)
            self._late.append((due, bytes(frame)))
        elif outcome is FrameOutcome.OVERTAKEN:
            self._overtaken.append(bytes(frame))
        elif outcome is not FrameOutcome.LOST_ON_THE_WAY_BACK:
            if outcome is FrameOutcome.MISCOUNTED:
                miscount(frame)
            for answer in (frame, frame) if outcome is FrameOutcome.DOUBLED else (frame,):
                self._send(answer)
            while self._overtaken:
                self._send(self._overtaken.pop(0))

    def _advance_to(self, now: int) -> None:
        """Advance to a frame at ring time `now` [ns], as far as its answer depends on it.

        Between two SYNC0 the wire shows mailboxes and registers only, so drives and plant may be
        advanced after the answer.
        """
        if self._ring.next_event <= now:
            self._scheduler.advance(now)
        simulated_time = self._ring.simulated_time
        simulated_time.now = max(now, simulated_time.now)

    def _send(self, frame: memoryview | bytes) -> None:
        self._port.send(frame)
        if self._capture:
            self._capture.add(self._ring.now, frame)


def add_ring_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every process with a ring."""
    add = parser.add_argument
    add("--mailbox-delay-ms", type=_delay, default=0.0, metavar="D",
        help="from an SDO request to its answer (default: 0)")  # fmt: skip
    add("--capture", type=Path, metavar="FILE", help="pcap file of the ring's frames")
    add("--seed", type=int, default=0, help="of random frame losses (default: 0)")
    add("--assume", action="append", default=[], metavar="NAME=VALUE", help=HELP)


def _delay(text: str) -> float:
    delay = float(text)
    if not delay >= 0:
        raise argparse.ArgumentTypeError(f"{text}: expected 0 or more")
    return delay


def add_ring(
    process: TwinProcess, ring: VirtualRing, interface: str, options: argparse.Namespace
) -> None:
    """Make a ring part of a process; drive k moves joint k of its plant.

    `options` are those of `add_ring_options`. Raises RingError if the interface can't be used or
    the capture can't be written.
    """
    cleanup = process.cleanup
    try:
        lock = NameLock("ring", interface)
    except NameInUseError as error:
        raise RingError(f"another ring answers on '{interface}'") from error
    cleanup.callback(lock.close)
    port = PacketPort(interface)
    cleanup.callback(port.close)
    capture = Capture(options.capture) if options.capture else None
    if capture:
        cleanup.callback(capture.close)
    frame_faults = FrameFaults(Random(options.seed))
    commands = RingCommands(ring, process.scheduler.plant, frame_faults)
    commands.mailbox_delay(options.mailbox_delay_ms / 1e3)
    endpoint = RingServer(ring, process.scheduler, port, process.clock, frame_faults, capture)
    process.add(ring, endpoint, commands)
