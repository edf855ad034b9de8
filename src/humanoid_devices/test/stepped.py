"""Stepped time: workers, bus and motors of a test on one clock, which waits for all of them."""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from random import Random
from typing import TypeVar

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
from humanoid_devices_can.timing import Steps
from humanoid_twin.can.adapters import error_frames
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import Trouble
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.scheduler import Scheduler, Side

Result = TypeVar("Result")

NANO = 1_000_000_000  # [ns]
MOST_STEPS = 100_000  # of all workers at one time: more are an endless loop


class SteppedWorker:
    """Steps that are carried out when a scheduler says so."""

    def __init__(self, time: SteppedTime, name: str, steps: Steps, wake: threading.Event) -> None:
        self.name, self.due, self.alive = name, time.now, True
        self._time, self._steps, self._bell = time, steps, wake

    def is_alive(self) -> bool:
        return self.alive

    def join(self) -> None:
        """No time passes: it is ending, or about to."""
        for _ in range(MOST_STEPS):
            if not self.alive:
                return
            self.step()
        raise AssertionError(f"{self.name} does not end")

    def wanted(self) -> bool:
        return self.alive and (self.due <= self._time.now or self._bell.is_set())

    def step(self) -> None:
        self._bell.clear()
        try:
            wait = next(self._steps)
        except StopIteration:
            self.alive = False
        except Exception as error:  # a thread would end with it
            self.alive = False
            self._time.errors.append(error)
        else:
            self.due = self._time.now + math.ceil(wait * NANO)


class SteppedTime:
    """The workers of a component, and a clock that waits until they have done what is due.

    `world` is moved along, with what happens on its `sides`. With a seed, the order of those that
    are due at one time is drawn.
    """

    def __init__(
        self, world: Scheduler | None = None, sides: Sequence[Side] = (), seed: int | None = None
    ) -> None:
        self.now = 0  # [ns]
        self.errors: list[Exception] = []
        self.workers: list[SteppedWorker] = []
        self._world, self._sides = world, sides
        self._random = None if seed is None else Random(seed)

    def clock(self) -> float:
        return self.now / NANO

    def start(self, name: str, steps: Steps, wake: threading.Event) -> SteppedWorker:
        worker = SteppedWorker(self, name, steps, wake)
        self.workers.append(worker)
        return worker

    def run(self, steps: Generator[float, None, Result]) -> Result:
        while True:
            try:
                wait = next(steps)
            except StopIteration as end:
                result: Result = end.value
                return result
            self.pass_(wait)

    def arrived(self) -> None:
        """Something has come: what receives need not wait any longer."""
        for worker in self.workers:
            if worker.name == "can receive":
                worker.due = min(worker.due, self.now)

    def pass_(self, seconds: float) -> None:
        """Let time pass."""
        end = self.now + math.ceil(seconds * NANO)
        while True:
            self._step(end)
            due = min([worker.due for worker in self.workers] + self._events(), default=end + 1)
            if max(due, self.now) > end:
                break
            self._advance(due)
        self._advance(end)

    def _events(self) -> list[int]:
        if self._world is None:
            return []
        return [self._world.next_step, *(side.next_event for side in self._sides)]

    def _advance(self, now: int) -> None:
        if self._world is not None:
            self._world.advance(max(now, self.now))
        self.now = max(now, self.now)

    def _step(self, end: int) -> None:
        for _ in range(MOST_STEPS):
            if self.now > end:  # a step has taken time itself
                return
            self.workers = [worker for worker in self.workers if worker.alive]
            wanted = [worker for worker in self.workers if worker.wanted()]
            if not wanted:
                return
            if self._random is not None:
                self._random.shuffle(wanted)
            wanted[0].step()
            for worker in wanted[1:]:
                if worker.wanted():
                    worker.step()
        raise AssertionError(f"{[worker.name for worker in wanted]} leave no time to others")


class SteppedAdapter:
    """The host's end of a bus as SocketCAN has it: a short queue, and any number of sockets.

    A port of `CanBench` without a library and a kernel in between: nothing takes any time.
    """

    def __init__(self, bus: VirtualCanBus, _address: str) -> None:
        self.controller = bus.attach(self._receive, trouble=self._trouble)
        self.sockets: list[SteppedSocket] = []
        self.plugged = True
        self.bus = bus
        self.arrived: Callable[[], None] = lambda: None

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
        self.sockets.clear()
        self.arrived()

    def plug_in(self) -> None:
        self.plugged = True
        self.controller.set(powered=True)

    def close(self) -> None:
        self.unplug()

    def _receive(self, frame: CanFrame, now: int) -> None:
        for socket in self.sockets:
            socket.incoming.append(socket.received(frame))
        self.arrived()

    def _trouble(self, trouble: Trouble, now: int) -> None:
        kind, data = error_frames.encode(trouble)
        for socket in self.sockets:
            socket.incoming.append(ErrorFrame(BusEvent(kind & 0x3FF), data))
        self.arrived()


class SteppedSocket:
    """A `Bus`."""

    def __init__(self, adapter: SteppedAdapter, settings: BusSettings) -> None:
        self.incoming: deque[Received] = deque()
        self.lost = False
        self._adapter, self._settings = adapter, settings

    def received(self, frame: CanFrame) -> Received:
        data, settings = frame.requested is None, self._settings
        problem = foreign_frame(
            frame.identifier, extended=frame.extended, data=data, settings=settings
        )
        return InvalidFrame(problem) if problem else DataFrame(frame.identifier, frame.data)

    def receive(self, timeout: float) -> Received | None:
        self._check()
        return self.incoming.popleft() if self.incoming else None

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
