"""A process of the virtual robot: its options, its priority, its commands and its loop."""

import argparse
import ctypes
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_twin.clock import Moment, SteppedClock, WallClock
from humanoid_twin.control.commands import CommandTable, TimeCommands
from humanoid_twin.control.server import ControlServer
from humanoid_twin.ethercat.firmware import Physics
from humanoid_twin.loop import Loop, Wire
from humanoid_twin.scheduler import Scheduler, Side

_log = logging.getLogger(__name__)
_TIMER_SLACK: Final = 29  # PR_SET_TIMERSLACK (linux/prctl.h)
_PRIORITY: Final = 50  # SCHED_FIFO


class TwinProcess:
    """A plant with buses; `run` serves them until the process is ended."""

    def __init__(
        self, plant: Physics, options: argparse.Namespace, cleanup: ExitStack,
        *, ignore_interrupt: bool = False,
    ) -> None:  # fmt: skip
        """`options` are those of `add_process_options`. `cleanup` closes everything.

        `ignore_interrupt`: SIGINT is ignored.
        """
        self._wake = stop_signals(cleanup, ignore_interrupt=ignore_interrupt)
        self._options = options
        self.cleanup = cleanup
        self.clock = SteppedClock() if options.clock == "stepped" else WallClock()
        self.moment = Moment()
        self.scheduler = Scheduler(plant, self.moment)
        self.commands = CommandTable()
        self.commands.add(TimeCommands(self.scheduler, self.clock))
        self._wires: list[Wire] = []

    def add(self, side: Side, wire: Wire, commands: object, prefix: str = "") -> None:
        """Add a bus: its inside, its outside and its commands."""
        self.scheduler.add(side)
        self._wires.append(wire)
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
        Loop(self.scheduler, self._wires, self.clock, channel).run(self._wake)


def add_process_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every process of the virtual robot."""
    add = parser.add_argument
    add("--control", type=Path, metavar="SOCKET", help="socket of the control channel")
    add("--clock", choices=["wall", "stepped"], default="wall",
        help="stepped: time passes by frames of the ring and by command only")  # fmt: skip
    add("--realtime", action="store_true", help="ask for SCHED_FIFO")


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
    """Wake on time, and stop collecting garbage: the present objects live to the end."""
    ctypes.CDLL(None, use_errno=True).prctl(_TIMER_SLACK, 1, 0, 0, 0)
    gc.collect()
    gc.freeze()
    gc.disable()
    if realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        except PermissionError:
            _log.warning("no right to SCHED_FIFO (CAP_SYS_NICE); running as any other process")
