"""The ring process: `python -m humanoid_twin.ethercat.main IFNAME --slaves 10`."""

import argparse
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace

from humanoid_twin.assumptions import assume
from humanoid_twin.erob.build import bench, build_robot, prime_arms
from humanoid_twin.ethercat.attach import add_ring, add_ring_options
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.twin_process import TwinProcess, add_process_options, exit_code

_JOINTS = {"arms": prime_arms, "bench": bench}


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    line = argparse.ArgumentParser(prog="ring", description="A virtual ring of eRob drives.")
    line.add_argument("interface", metavar="IFNAME", help="Ethernet interface to answer on")
    line.add_argument("--slaves", type=int, default=10, metavar="N", help="drives (default: 10)")
    line.add_argument("--joints", choices=sorted(_JOINTS), default="arms",
                      help="what the drives turn: Prime's arms, or flywheels")  # fmt: skip
    add_ring_options(line)
    add_process_options(line)
    return line


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until SIGTERM or SIGINT. Return 1 if the ring can't be started or loses its interface."""
    line = parser()
    options = line.parse_args(arguments)
    if not 1 <= options.slaves <= 1000:
        line.error(f"--slaves {options.slaves}: expected 1 to 1000")

    def run(cleanup: ExitStack) -> None:
        facts = assume(options.assume)
        joints = _JOINTS[options.joints](options.slaves)
        robot = build_robot([replace(joint, drive=facts.drive) for joint in joints])
        process = TwinProcess(robot.plant, options, cleanup)
        ring = VirtualRing(robot.drives, process.simulated_time, facts.slave)
        add_ring(process, ring, options.interface, options)
        process.run(f"ring: {options.slaves} slaves on {options.interface}")

    return exit_code("ring", run)


if __name__ == "__main__":
    sys.exit(main())
