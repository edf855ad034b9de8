"""A virtual ring in this process: frames go through memory, one thread runs all, time is stepped.

The stack above pysoem, its frames and the whole ring are the code of the product. Runs repeat
exactly.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from random import Random
from types import MappingProxyType
from typing import Final, cast

from humanoid_devices_erob.errors import InterfaceError
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.raw_socket import RawDatagrams, RawSocket
from humanoid_stepped.wires.soem import Soem
from humanoid_twin import assumptions
from humanoid_twin.clock import SimulatedTime, SteppedClock
from humanoid_twin.erob.build import bench, build_robot, prime_arms
from humanoid_twin.ethercat.attach import RingServer
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.frame_faults import FrameFaults
from humanoid_twin.ethercat.port import PacketPort
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.scheduler import Scheduler
from test_support.stepped.stepped_time import SteppedTime

_JOINTS: Final = {"arms": prime_arms, "bench": bench}


class MemoryRing(SteppedTime):
    """Drives, their ring, and the machine of the stack, with one thread for all.

    A started thread runs while another one waits for its event, and for `turns` more sleeps.
    Then it never runs again.
    """

    interface = "memory"

    def __init__(
        self,
        count: int,
        *,
        seed: int = 0,
        joints: str = "bench",
        mailbox_delay_ms: float = 0.0,
        assume: Mapping[str, object] = MappingProxyType({}),
    ) -> None:
        """Options are those of a ring on a cable: see RingOptions of `humanoid_twin.testing`."""
        facts = assumptions.assume(assumptions.choices(assume))
        turned = _JOINTS[joints](count)
        robot = build_robot([replace(joint, drive=facts.drive) for joint in turned])
        self.drives, self.count = robot.drives, count
        self._stepped, simulated_time = SteppedClock(), SimulatedTime()
        self.world = Scheduler(robot.plant, simulated_time)
        self.ring = VirtualRing(robot.drives, simulated_time, facts.slave)
        self.world.add(self.ring)
        frame_faults = FrameFaults(Random(seed))
        self.control = MemoryControl(self.ring, robot.plant, frame_faults, self)
        self.control.mailbox_delay(mailbox_delay_ms / 1000)
        self._port = _Port()
        port = cast(PacketPort, self._port)
        self._server = RingServer(self.ring, self.world, port, self._stepped, frame_faults)
        self.on_frame: Callable[[bytes], None] = lambda _frame: None  # a frame from the master
        self.turns = 0
        self._thread: MemoryThread | None = None
        self._event: threading.Event | None = None  # event of the present wait
        self._left = 0  # of `turns`

    def clock(self) -> float:
        """See Machine: this is ring time."""
        return self.world.now / 1e9

    def advance(self, seconds: float) -> None:
        """See SteppedTime."""
        self.world.advance(self._stepped.advance(max(round(seconds * 1e9), 1000)))

    def start(self, name: str, run: Callable[[], None]) -> MemoryThread:
        """See Machine."""
        self._thread = MemoryThread(run)
        return self._thread

    def wait(self, event: threading.Event, seconds: float | None = None) -> bool:
        """See Machine."""
        if seconds is not None:
            return super().wait(event, seconds)
        assert self._thread is not None
        self._event, self._left = event, self.turns
        try:
            self._thread.run()
        except _NeverAgainError:
            pass
        finally:
            self._event = None
        return event.is_set()

    def sleep(self, seconds: float) -> None:
        """See Machine."""
        if self._event is not None and self._event.is_set():
            self._left -= 1
            if self._left < 0:
                raise _NeverAgainError
        super().sleep(seconds)

    def master(self, timeout: float) -> MemoryMaster:
        """Return a master on this ring."""
        return MemoryMaster(timeout, self)

    def pass_on(self, frame: bytes) -> list[bytes]:
        """Send a frame through the slaves; return the answer."""
        self.on_frame(frame)
        port = self._port
        port.frame = memoryview(bytearray(frame))
        self._server.serve(True)
        answers, port.answers = port.answers, []
        return answers


@dataclass(frozen=True, slots=True)
class MemoryControl(RingCommands):
    """The commands of a ring's control channel."""

    machine: MemoryRing

    def time(self) -> float:
        """See RingControl."""
        return self.machine.clock()

    def advance(self, seconds: float) -> None:
        """See RingControl."""
        self.machine.advance(seconds)


class _NeverAgainError(BaseException):
    """Ends a thread that sleeps."""


class MemoryThread:
    """A `Thread` that others run."""

    def __init__(self, run: Callable[[], None]) -> None:
        self.run = run

    def is_alive(self) -> bool:
        return False

    def join(self, timeout: float | None = None) -> None:
        """Return at once."""


class _Port:
    """The end of the cable at the ring; replaces a PacketPort."""

    def __init__(self) -> None:
        self.frame: memoryview | None = None
        self.answers: list[bytes] = []

    def receive(self) -> memoryview | None:
        frame, self.frame = self.frame, None
        return frame

    def send(self, frame: memoryview | bytes) -> None:
        self.answers.append(bytes(frame))


class MemoryLine(RawSocket):
    """The end of the cable at the master. A dead process sends no frames."""

    def __init__(self, ring: MemoryRing) -> None:
        self._ring, self._silence = ring, 0
        self._answers: deque[bytes] = deque()
        self.alive = True

    def ask(self, frame: bytes) -> list[bytes]:
        """Do nothing: in memory no answers of SOEM wait."""
        if not self.alive:
            raise InterfaceError("this process is dead")
        return self._ring.pass_on(frame)

    def send(self, frame: bytes) -> None:
        self._answers.extend(self.ask(frame))

    def wait(self, seconds: float) -> bool:
        return bool(self._answers)

    def drop(self) -> None:
        self._answers.clear()

    def receive(self) -> bytes:
        return self._answers.popleft() if self._answers else b""

    def close(self) -> None:
        self._answers.clear()


class MemoryMaster(EthercatMaster):
    """The stack's own master on a line in memory."""

    def __init__(self, timeout: float, ring: MemoryRing) -> None:
        super().__init__(timeout)
        self.ring = ring
        self.line = MemoryLine(ring)

    def finish(self, seconds: float) -> list[bytes | None] | None:
        """See MailboxPort: frames take no time here, so none is under way."""
        return super().finish(inf)

    def open(self, interface: str) -> None:
        """Do nothing: no other program can use this interface."""
        self._master = Soem(self.line.ask)
        self._socket = self.line
        self._datagrams = RawDatagrams(self.line, self._timeout, self.ring)
