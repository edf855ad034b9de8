"""The ring process: `python -m humanoid_twin.ethercat.main IFNAME --slaves 10`."""

import argparse
import logging
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from humanoid_control_common.errors import RobotError
from humanoid_twin.assembly import Assembly
from humanoid_twin.assumptions import HELP, assume
from humanoid_twin.drive.robot import bench, build_robot, prime_arms
from humanoid_twin.ethercat.place import RingPlace, add_ring
from humanoid_twin.ethercat.ring import VirtualRing

_log = logging.getLogger(__name__)
_JOINTS = {"arms": prime_arms, "bench": bench}


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
    line.add_argument("--assume", action="append", default=[], metavar="NAME=VALUE", help=HELP)
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
    except (RobotError, OSError) as error:
        _log.error("%s", error)
        return 1
    return 0


def _run(options: argparse.Namespace) -> None:
    with ExitStack() as cleanup:
        facts = assume(options.assume)
        joints = _JOINTS[options.joints](options.slaves)
        robot = build_robot([replace(joint, drive=facts.drive) for joint in joints])
        process = Assembly(robot.plant, stepped=options.clock == "stepped", cleanup=cleanup)
        ring = VirtualRing(robot.drives, process.moment, facts.slave)
        place = RingPlace(options.interface, options.capture, options.seed)
        commands = add_ring(process, ring, place)
        commands.mailbox_delay(options.mailbox_delay_ms / 1e3)
        greeting = f"ring: {options.slaves} slaves on {options.interface}"
        process.run(options.control, greeting, realtime=options.realtime)


if __name__ == "__main__":
    sys.exit(main())
