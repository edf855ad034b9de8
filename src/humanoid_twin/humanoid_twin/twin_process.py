"""A process of the virtual robot: its options, its priority, its commands and its loop."""

import argparse
import ctypes
import gc
import logging
import os
import select
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final, Protocol

from humanoid_control_common.errors import RobotError
from humanoid_twin.clock import Clock, SimulatedTime, SteppedClock, WallClock
from humanoid_twin.control.commands import CommandTable, TimeCommands
from humanoid_twin.control.server import ControlServer
from humanoid_twin.physics.plant import Plant
from humanoid_twin.scheduler import Scheduler, SimulatedBus

_LONGEST_WAIT: Final = 0.005  # [s] after which the drives catch up without an event
_SHORTEST_WAIT: Final = 10e-6  # [s]


class BusEndpoint(Protocol):
    """The end of one bus at which the host sends and receives."""

    def fileno(self) -> int:
        """Return a descriptor that is readable when the host has sent something."""

    @property
    def next_event(self) -> int:
        """Time at which the bus needs service although nothing has come [ns]."""

    def serve(self, readable: bool, /) -> bool:
        """Take what has come. Return whether more that came before now may be waiting.

        `readable` is the result of select for the descriptor.
        """

    def settle(self) -> None:
        """Hand out what is due, after time has advanced."""


class EventLoop:
    """Serves the endpoints of a robot and its control channel.

    select with a timeout wakes exactly at the next event; a receive timeout of a socket would be
    rounded up to the kernel's tick (4 ms).
    """

    def __init__(
        self,
        scheduler: Scheduler,
        endpoints: Sequence[BusEndpoint],
        clock: Clock,
        control: ControlServer,
    ) -> None:
        self._scheduler, self._endpoints = scheduler, tuple(endpoints)
        self._clock, self._control = clock, control
        self._free_running = not isinstance(clock, SteppedClock)

    def run(self, wake: int) -> None:
        """Serve until something can be read from the file descriptor `wake`.

        Raises TwinError if a bus goes away.
        """
        descriptors = [endpoint.fileno() for endpoint in self._endpoints]
        while True:
            waited = [*descriptors, wake, *self._control.descriptors()]
            unread = self._control.unread()
            readable, writable, _ = select.select(waited, unread, [], self._wait())
            if wake in readable:
                return
            now = self._clock.now()
            # Only if nothing sent before `now` is waiting may later events happen.
            if not self._serve(readable) and self._free_running:
                self._scheduler.advance(now)
            self._settle()
            requests = [descriptor for descriptor in readable if descriptor not in descriptors]
            requests += writable
            for descriptor in requests:
                self._control.serve(descriptor)
            if requests:
                self._settle()

    def _settle(self) -> None:
        for endpoint in self._endpoints:
            endpoint.settle()

    def _serve(self, readable: Sequence[int]) -> bool:
        served = [
            endpoint.serve(endpoint.fileno() in readable) for endpoint in self._endpoints
        ]  # all of them
        return any(served)

    def _wait(self) -> float:
        """Return the time [s] until the next event."""
        if not self._free_running:
            return 1.0  # the control channel advances time
        due = min(endpoint.next_event for endpoint in self._endpoints)
        wait = (due - self._clock.now()) / 1e9
        return min(max(wait, _SHORTEST_WAIT), _LONGEST_WAIT)


_log = logging.getLogger(__name__)
_TIMER_SLACK: Final = 29  # PR_SET_TIMERSLACK (linux/prctl.h)
_PRIORITY: Final = 50  # SCHED_FIFO


class TwinProcess:
    """A plant with buses; `run` serves them until the process is ended."""

    def __init__(
        self, plant: Plant, options: argparse.Namespace, cleanup: ExitStack,
        *, ignore_interrupt: bool = False,
    ) -> None:  # fmt: skip
        """`options` are those of `add_process_options`. `cleanup` closes everything.

        `ignore_interrupt`: SIGINT is ignored.
        """
        self._wake = stop_signals(cleanup, ignore_interrupt=ignore_interrupt)
        self._options = options
        self.cleanup = cleanup
        self.clock = SteppedClock() if options.clock == "stepped" else WallClock()
        self.simulated_time = SimulatedTime()
        self.scheduler = Scheduler(plant, self.simulated_time)
        self.commands = CommandTable()
        self.commands.add(TimeCommands(self.scheduler, self.clock))
        self._endpoints: list[BusEndpoint] = []

    def add(
        self, bus: SimulatedBus, endpoint: BusEndpoint, commands: object, prefix: str = ""
    ) -> None:
        """Add a bus: its inside, its outside and its commands."""
        self.scheduler.add(bus)
        self._endpoints.append(endpoint)
        self.commands.add(commands, prefix)

    def run(self, greeting: str) -> None:
        """Write the greeting to stdout, then serve until a stop signal.

        Raises TwinError if there can be no control channel, or a bus disappears.
        """
        channel = ControlServer(self._options.control, self.commands.execute)
        self.cleanup.callback(channel.close)
        prepare_realtime(realtime=self._options.realtime)
        sys.stdout.write(f"{greeting}\n")
        sys.stdout.flush()
        EventLoop(self.scheduler, self._endpoints, self.clock, channel).run(self._wake)


def add_process_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every process of the virtual robot."""
    add = parser.add_argument
    add("--control", type=Path, metavar="SOCKET", help="socket of the control channel")
    add("--clock", choices=["wall", "stepped"], default="wall",
        help="stepped: time passes by frames of the ring and by command only")  # fmt: skip
    add("--realtime", action="store_true", help="request SCHED_FIFO")


def exit_code(name: str, run: Callable[[ExitStack], None]) -> int:
    """Call `run` and close what it opened. Return 1 after an error, which goes to stderr."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format=f"{name}: %(message)s")
    try:
        with ExitStack() as cleanup:
            run(cleanup)
    except (RobotError, OSError) as error:
        _log.error("%s", error)
        return 1
    return 0


def stop_signals(cleanup: ExitStack, *, ignore_interrupt: bool = False) -> int:
    """Return a file descriptor that is readable after SIGTERM or SIGINT.

    `ignore_interrupt`: SIGINT is ignored.
    """
    reader, writer = socket.socketpair()
    cleanup.callback(reader.close)
    cleanup.callback(writer.close)
    writer.setblocking(False)
    cleanup.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(writer.fileno()))
    interrupt = signal.SIG_IGN if ignore_interrupt else _noted
    for number, handler in ((signal.SIGTERM, _noted), (signal.SIGINT, interrupt)):
        cleanup.callback(signal.signal, number, signal.signal(number, handler))
    return reader.fileno()


def _noted(_number: int, _frame: object) -> None:
    """Do nothing: the signal is in the wake-up descriptor."""


def prepare_realtime(*, realtime: bool) -> None:
    """Prepare precise waits, and stop the garbage collection of the present objects."""
    ctypes.CDLL(None, use_errno=True).prctl(_TIMER_SLACK, 1, 0, 0, 0)
    gc.collect()
    gc.freeze()
    gc.disable()
    if realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        except PermissionError:
            _log.warning("no right to SCHED_FIFO (CAP_SYS_NICE); running with ordinary priority")
