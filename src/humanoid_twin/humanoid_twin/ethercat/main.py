"""The ring process: `python -m humanoid_twin.ethercat.main IFNAME --slaves 10`."""

import argparse
import ctypes
import gc
import logging
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random

from humanoid_twin.drive.robot import bench, build_robot, prime_arms
from humanoid_twin.ethercat.capture import Capture
from humanoid_twin.ethercat.clock import Clock, SteppedClock, WallClock
from humanoid_twin.ethercat.commands import Commands
from humanoid_twin.ethercat.control_server import ControlServer
from humanoid_twin.ethercat.errors import RingError
from humanoid_twin.ethercat.lock import InterfaceLock
from humanoid_twin.ethercat.losses import Losses
from humanoid_twin.ethercat.parameters import SlaveParameters
from humanoid_twin.ethercat.port import PacketPort
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.ethercat.server import RingServer

_log = logging.getLogger(__name__)
_JOINTS = {"arms": prime_arms, "bench": bench}
_TIMER_SLACK = 29  # PR_SET_TIMERSLACK (linux/prctl.h)
_PRIORITY = 50  # SCHED_FIFO


def parser() -> argparse.ArgumentParser:
    """The ring's command line."""
    line = argparse.ArgumentParser(prog="ring", description="A virtual ring of eRob drives.")
    line.add_argument("interface", metavar="IFNAME", help="Ethernet interface to answer on")
    line.add_argument("--slaves", type=int, default=10, metavar="N", help="drives (default: 10)")
    line.add_argument("--mailbox-delay-ms", type=float, default=0.0, metavar="D",
                      help="from an SDO request to its answer (default: 0)")  # fmt: skip
    line.add_argument("--clock", choices=["wall", "stepped"], default="wall",
                      help="stepped: time passes by frames and by command only")  # fmt: skip
    line.add_argument("--control", type=Path, metavar="PATH", help="socket of the control channel")
    line.add_argument("--capture", type=Path, metavar="FILE", help="pcap file of all frames")
    line.add_argument("--seed", type=int, default=0, help="of random frame losses (default: 0)")
    line.add_argument("--joints", choices=sorted(_JOINTS), default="arms",
                      help="what the drives turn: Prime's arms, or flywheels")  # fmt: skip
    line.add_argument("--realtime", action="store_true", help="ask for SCHED_FIFO")
    return line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. 1 if the ring can't be started or loses its interface."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="ring: %(message)s")
    line = parser()
    options = line.parse_args(arguments)
    if not 1 <= options.slaves <= 1000:
        line.error(f"--slaves {options.slaves}: expected 1 to 1000")
    if not options.mailbox_delay_ms >= 0:
        line.error(f"--mailbox-delay-ms {options.mailbox_delay_ms}: expected 0 or more")
    try:
        _run(options)
    except (RingError, OSError) as error:
        _log.error("%s", error)
        return 1
    return 0


def _run(options: argparse.Namespace) -> None:
    with ExitStack() as cleanup:
        wake = _stop_signals(cleanup)
        lock = InterfaceLock(options.interface)
        cleanup.callback(lock.close)
        port = PacketPort(options.interface)
        cleanup.callback(port.close)
        capture = Capture(options.capture) if options.capture else None
        if capture:
            cleanup.callback(capture.close)
        ring = _build(options.slaves, options.joints)
        losses = Losses(Random(options.seed))
        clock: Clock = SteppedClock() if options.clock == "stepped" else WallClock()
        commands = Commands(ring, clock, losses)
        commands.mailbox_delay(options.mailbox_delay_ms / 1e3)
        control = ControlServer(options.control, commands.execute)
        cleanup.callback(control.close)
        server = RingServer(ring, port, clock, losses, control, capture)
        _tune(options.realtime)
        sys.stdout.write(f"ring: {options.slaves} slaves on {options.interface}\n")
        sys.stdout.flush()
        server.run(wake)


def _build(slaves: int, joints: str) -> VirtualRing:
    robot = build_robot(_JOINTS[joints](slaves))
    parameters = SlaveParameters()
    return VirtualRing(robot.drives, robot.plant, parameters)


def _stop_signals(cleanup: ExitStack) -> int:
    """A file descriptor that can be read as soon as the process is asked to end."""
    reader, writer = socket.socketpair()
    cleanup.callback(reader.close)
    cleanup.callback(writer.close)
    writer.setblocking(False)
    cleanup.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(writer.fileno()))
    for number in (signal.SIGTERM, signal.SIGINT):
        cleanup.callback(signal.signal, number, signal.signal(number, lambda _number, _frame: None))
    return reader.fileno()


def _tune(realtime: bool) -> None:
    """Wake on time, and never pause to collect garbage: what lives now lives to the end."""
    ctypes.CDLL(None, use_errno=True).prctl(_TIMER_SLACK, 1, 0, 0, 0)
    gc.collect()
    gc.freeze()
    gc.disable()
    if realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        except PermissionError:
            _log.warning("no right to SCHED_FIFO (CAP_SYS_NICE); running as any other process")


if __name__ == "__main__":
    sys.exit(main())
