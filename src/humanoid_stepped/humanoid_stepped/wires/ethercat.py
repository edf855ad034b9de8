"""The cable of the EtherCAT ring in memory: the ring's end and the master's."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, cast

from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.raw_socket import RawDatagrams, RawSocket
from humanoid_stepped.scheduler import Flag, Scheduler
from humanoid_stepped.stepped_machine import SteppedMachine
from humanoid_stepped.wires.soem import Soem
from humanoid_twin.clock import SteppedClock
from humanoid_twin.ethercat.attach import RingServer
from humanoid_twin.ethercat.frame_faults import FrameFaults
from humanoid_twin.ethercat.port import PacketPort
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.scheduler import Scheduler as RobotScheduler

ROUND_TRIP: Final = 60_000  # [ns] of a frame through ten slaves, with both ends' own work


class Cable:
    """The ring's end: frames are answered at once, by the scheduler's time."""

    def __init__(
        self,
        ring: VirtualRing,
        robot: RobotScheduler,
        frame_faults: FrameFaults,
        scheduler: Scheduler,
    ) -> None:
        self._port, self._robot, self._scheduler = _Port(), robot, scheduler
        clock = _Clock(scheduler)
        self.server = RingServer(ring, robot, cast(PacketPort, self._port), clock, frame_faults)
        # Called with each frame that leaves the master.
        self.departures: list[Callable[[bytes], None]] = []
        # Called with each of these, and each answer that leaves the ring.
        self.listeners: list[Callable[[bytes], None]] = []

    def connect(self, arrive: Callable[[bytes], None]) -> None:
        """Give every frame that comes back from the ring to `arrive`, after ROUND_TRIP."""
        robot, scheduler = self._robot, self._scheduler

        def pass_on(frame: bytes) -> None:
            self._note(frame)
            # A late answer is sent while the robot moves on: ahead of the scheduler's time.
            scheduler.call_at(robot.now + ROUND_TRIP, lambda: arrive(frame))

        self._port.arrive = pass_on

    def send(self, frame: bytes) -> None:
        """Send a frame into the ring."""
        for departure in self.departures:
            departure(frame)
        self._note(frame)
        self._port.frame = memoryview(bytearray(frame))
        self.server.serve(True)

    def _note(self, frame: bytes) -> None:
        for listener in self.listeners:
            listener(frame)


class _Clock(SteppedClock):
    """The scheduler's time: frames take none of the ring's."""

    def __init__(self, scheduler: Scheduler) -> None:
        super().__init__()
        self._scheduler = scheduler

    def now(self) -> int:
        """See Clock."""
        return self._scheduler.now

    def arrival(self, age: int) -> int:
        """See Clock."""
        return self._scheduler.now


class _Port:
    """In place of a PacketPort."""

    def __init__(self) -> None:
        self.frame: memoryview | None = None
        self.arrive: Callable[[bytes], None] = lambda _frame: None

    def receive(self) -> memoryview | None:
        frame, self.frame = self.frame, None
        return frame

    def send(self, frame: memoryview | bytes) -> None:
        self.arrive(bytes(frame))


class MemoryLine(RawSocket):
    """The master's end of the cable, in place of SOEM's socket."""

    def __init__(self, cable: Cable, machine: SteppedMachine) -> None:
        self._cable, self._machine, self._silence = cable, machine, 0
        self._answers: deque[bytes] = deque()
        self._arrived = Flag()
        cable.connect(self._arrive)

    def ask(self, frame: bytes) -> list[bytes]:
        """Exchange one frame as SOEM does: older answers are not for this one."""
        older = list(self._answers)
        self._answers.clear()
        self._cable.send(frame)
        self._machine.sleep(ROUND_TRIP / 1e9)
        found = list(self._answers)
        self._answers.clear()
        self._answers.extend(older)
        return found

    def send(self, frame: bytes) -> None:
        """See RawSocket."""
        self._cable.send(frame)

    def wait(self, seconds: float) -> bool:
        """See RawSocket."""
        if self._answers:
            return True
        self._arrived.clear()
        return self._machine.wait(self._arrived, seconds)

    def drop(self) -> None:
        """See RawSocket."""
        self._answers.clear()

    def receive(self) -> bytes:
        """See RawSocket."""
        return self._answers.popleft() if self._answers else b""

    def close(self) -> None:
        """See RawSocket."""
        self._answers.clear()

    def _arrive(self, frame: bytes) -> None:
        self._answers.append(frame)
        self._arrived.set()


class MemoryMaster(EthercatMaster):
    """The stack's own master on a line in memory."""

    def __init__(self, timeout: float, cable: Cable, machine: SteppedMachine) -> None:
        super().__init__(timeout)
        self._cable, self._machine = cable, machine

    def open(self, interface: str) -> None:
        """See EthercatMaster: no other program can have this interface."""
        line = MemoryLine(self._cable, self._machine)
        self._master = Soem(line.ask)
        self._socket = line
        self._datagrams = RawDatagrams(line, self._timeout, self._machine)
