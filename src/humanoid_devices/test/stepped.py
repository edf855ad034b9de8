"""Stepped time: threads, bus and motors of a test on one clock, which waits for all of them."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final

from greenlet import getcurrent, greenlet

from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.bus import (
    BusSettings,
    DataFrame,
    ErrorFrame,
    InvalidFrame,
    Received,
    check_identifier,
    foreign_frame,
)
from humanoid_devices_can.bus.error_frames import BusEvent, ControllerState
from humanoid_devices_can.errors import AdapterLostError, InterfaceError, QueueFullError
from humanoid_devices_can.guard.channel import GOOD_BYE, MEMORY_BYTES, GuardJob, GuardMemory
from humanoid_devices_can.guard.guarding import guard
from humanoid_devices_can.host import CanHost
from humanoid_twin.can.adapters import error_frames
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import Trouble
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.scheduler import Scheduler, Side

NANO = 1_000_000_000  # [ns]
NEVER: Final = 1 << 62  # [ns]
MOST_TURNS = 100_000  # of all threads at one time: more are an endless loop


class SteppedThread:
    """A thread that runs until it waits; see Thread."""

    def __init__(self, time: SteppedTime, name: str, run: Callable[[], None]) -> None:
        self.name, self.due = name, time.now
        self.event: threading.Event | None = None  # that ends its wait early
        self._time, self._run_function, self._ended = time, run, threading.Event()
        self.greenlet = greenlet(self._run, time.test)

    def is_alive(self) -> bool:
        return not self._ended.is_set()

    def join(self, timeout: float | None = None) -> None:
        self._time.wait(self._ended, timeout)

    def is_ready(self) -> bool:
        return self.due <= self._time.now or (self.event is not None and self.event.is_set())

    def _run(self) -> None:
        try:
            self._run_function()
        except Exception as error:  # a thread would end with it
            self._time.errors.append(error)
        finally:
            self._ended.set()


class SteppedTime(Machine):
    """One thread runs at a time, and time stands still while it does. See Machine.

    `world` is moved along, with what happens on its `sides`. The test itself is a thread, too.
    """

    def __init__(self, world: Scheduler | None = None, sides: Sequence[Side] = ()) -> None:
        self.now = 0  # [ns]
        self.errors: list[Exception] = []
        self.test = getcurrent()
        self._threads: list[SteppedThread] = []
        self._current: SteppedThread | None = None
        self._world, self._sides = world, sides

    def clock(self) -> float:
        return self.now / NANO

    def clock_ns(self) -> int:
        return self.now

    def system_time_ns(self) -> int:
        return self.now

    def make_realtime(self, priority: int) -> str:
        return ""

    def make_ros_side_realtime(self) -> None:
        pass

    def start(self, name: str, run: Callable[[], None]) -> SteppedThread:
        thread = SteppedThread(self, name, run)
        self._threads.append(thread)
        return thread

    def sleep(self, seconds: float) -> None:
        self.wait(threading.Event(), seconds)

    def wait(self, event: threading.Event, seconds: float | None = None) -> bool:
        end = NEVER if seconds is None else self.now + math.ceil(seconds * NANO)
        thread = self._current
        if thread is None:
            self._run_until(event, end)
        elif not event.is_set():
            thread.event, thread.due = event, end
            self.test.switch()
        return event.is_set()

    def _run_until(self, event: threading.Event, end: int) -> None:
        while True:
            self._run_ready()
            if event.is_set():
                return
            due = min([thread.due for thread in self._threads] + self._events(), default=NEVER)
            assert min(due, end) < NEVER, "the test waits, and no other thread will ever run"
            self._advance(max(min(due, end), self.now))
            if due > end:
                return

    def _ready(self) -> list[SteppedThread]:
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        return [thread for thread in self._threads if thread.is_ready()]

    def _run_ready(self) -> None:
        for _ in range(MOST_TURNS):
            ready = self._ready()
            if not ready:
                return
            for thread in ready:
                thread.event, thread.due = None, NEVER
                self._current = thread
                thread.greenlet.switch()
                self._current = None
        raise AssertionError(f"{[thread.name for thread in ready]} leave no time to others")

    def _events(self) -> list[int]:
        if self._world is None:
            return []
        return [self._world.next_step, *(side.next_event for side in self._sides)]

    def _advance(self, now: int) -> None:
        if self._world is not None:
            self._world.advance(now)
        self.now = now


class SteppedGuard:
    """A guard in a thread of the same stepped time. See RunningGuard and ControlProcess."""

    def __init__(self, job: GuardJob, host: CanHost) -> None:
        self.memory = GuardMemory(bytearray(MEMORY_BYTES))
        self.last: bytes | None = None
        self._machine, self._left = host.machine, threading.Event()

        def run() -> None:
            guard(job, self.memory, self, host.open_bus, host.machine.clock)

        self._thread = host.machine.start("guard", run)

    def wait(self, seconds: float) -> None:
        if self.last is None:
            self._machine.wait(self._left, seconds)
        else:
            self._machine.sleep(seconds)

    def end(self) -> None:
        self.last = GOOD_BYE
        self._left.set()
        self._thread.join()


class NoClaim:
    """A claim on a bus that only this test has."""

    def fileno(self) -> int:
        return -1

    def close(self) -> None:
        pass


class SteppedAdapter:
    """The host's end of a bus as SocketCAN has it: a short queue, and any number of sockets.

    A port of `CanBench` without a library and a kernel in between: nothing takes any time.
    """

    def __init__(self, bus: VirtualCanBus, time: SteppedTime) -> None:
        self.controller = bus.attach(self._receive, trouble=self._trouble)
        self.time = time
        self.sockets: list[SteppedSocket] = []
        self.plugged = True
        self.bus = bus

    def open(self, settings: BusSettings) -> SteppedSocket:
        if not self.plugged:
            raise InterfaceError("stepped: there is no such adapter")
        socket = SteppedSocket(self, settings)
        self.sockets.append(socket)
        return socket

    def unplug(self) -> None:
        self.plugged = False
        self.controller.set(powered=False)
        for socket in self.sockets:
            socket.lost = True
            socket.arrived.set()
        self.sockets.clear()

    def plug_in(self) -> None:
        self.plugged = True
        self.controller.set(powered=True)

    def close(self) -> None:
        self.unplug()

    def _receive(self, frame: CanFrame, now: int) -> None:
        for socket in self.sockets:
            socket.put(socket.received(frame))

    def _trouble(self, trouble: Trouble, now: int) -> None:
        kind, data = error_frames.encode(trouble)
        for socket in self.sockets:
            socket.put(ErrorFrame(BusEvent(kind & 0x3FF), data))


class SteppedSocket:
    """A `Bus`."""

    def __init__(self, adapter: SteppedAdapter, settings: BusSettings) -> None:
        self.arrived = threading.Event()
        self.lost = False
        self._incoming: deque[Received] = deque()
        self._adapter, self._settings = adapter, settings

    def put(self, received: Received) -> None:
        self._incoming.append(received)
        self.arrived.set()

    def received(self, frame: CanFrame) -> Received:
        data, settings = frame.requested is None, self._settings
        problem = foreign_frame(
            frame.identifier, extended=frame.extended, data=data, settings=settings
        )
        return InvalidFrame(problem) if problem else DataFrame(frame.identifier, frame.data)

    def receive(self, timeout: float) -> Received | None:
        self._check()
        if not self._incoming and timeout > 0.0:
            self.arrived.clear()
            self._adapter.time.wait(self.arrived, timeout)
            self._check()
        return self._incoming.popleft() if self._incoming else None

    def send(self, frame: tuple[int, bytes]) -> None:
        self._check()
        controller, bus = self._adapter.controller, self._adapter.bus
        check_identifier(frame[0], self._settings)
        sent = CanFrame(*frame, extended=self._settings.extended)
        if controller.full or not controller.send(sent, bus.now):
            raise QueueFullError("stepped: full")

    def state(self) -> ControllerState:
        return ControllerState.ACTIVE  # error frames tell

    def refused(self) -> int:
        return 0

    def close(self) -> None:
        self.lost = True
        if self in self._adapter.sockets:
            self._adapter.sockets.remove(self)

    def _check(self) -> None:
        if self.lost:
            raise AdapterLostError("stepped: the adapter is gone: plug it in again")
