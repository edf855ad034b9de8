"""Measure the speed of the stepped robot and of the fault campaign on it, in time of one core.

The table also has the speed in wall time, which other programs of the machine can lower.

* Simulated seconds per second of the whole robot at 50 Hz, in DAMPING and in STANDBY: control
  process, impedance manager, black box, guard, both buses (SocketCAN), drives and body, with the
  campaign's observer and heartbeat (goal: 15); each sample is half a simulated second, p99 the
  best of them.
* Trials of the fault campaign per hour, one after another (goal: 10 000), with the robots that
  are brought up and prepared for them: SocketCAN and serial adapters in equal shares.
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from fault_campaign.campaign import drawn
from fault_campaign.kinds.catalogue import KINDS
from fault_campaign.robot import SOCKETCAN, Robot
from fault_campaign.robot_joints import PRIME
from fault_campaign.stepped.prepared import Copies

from benchmarks.support.figures import Figure, arguments, figure, report, single
from humanoid_control_common.rules.modes import Mode

TRIALS = 100
SEED = 1
WINDOWS = 40
WINDOW = 0.5  # [s] simulated
TIMEOUT = 6.0  # [s] simulated, until STANDBY is in force


def pace(robot: Robot, windows: int, mode: str) -> dict[str, Figure]:
    """Return simulated seconds per second of processor time, and of wall time."""
    used, passed = [], []
    for _ in range(windows):
        begun, began = time.process_time(), time.perf_counter()
        robot.machine.sleep(WINDOW)
        used.append(WINDOW / (time.process_time() - begun))
        passed.append(WINDOW / (time.perf_counter() - began))
    return {mode: figure(used, "x"), f"{mode}, wall time": figure(passed, "x")}


def trials_per_hour(folder: Path, count: int) -> dict[str, Figure]:
    """Return the number of trials per hour of one core, and per hour of wall time."""
    before, began = _used_by_copies(), time.perf_counter()
    make = partial(Robot, folder, None, PRIME)
    with Copies(make, drawn(list(KINDS.values()), count, SEED)) as copies:
        for index in range(count):
            copies.run(index)
    used, passed = _used_by_copies() - before, time.perf_counter() - began
    return {
        "trials": single(3600.0 * count / used, "1/h"),
        "trials, wall time": single(3600.0 * count / passed, "1/h"),
        "processor time of a trial": single(used / count, "s"),
    }


def _used_by_copies() -> float:
    """Return the processor time [s] of the processes that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print. Raises RuntimeError if STANDBY does not come into force."""
    options = arguments(__doc__).parse_args(words)
    windows = 2 if options.quick else WINDOWS
    with TemporaryDirectory(prefix="hc_benchmark_") as folder:
        os.environ["ROS_HOME"] = folder
        figures = trials_per_hour(Path(folder), 2 if options.quick else TRIALS)
        robot = Robot(Path(folder), adapter=SOCKETCAN)
        figures |= pace(robot, windows, "DAMPING")
        if not robot.observer.comes_to(Mode.STANDBY, TIMEOUT):
            raise RuntimeError(f"STANDBY is not in force: {robot.observer.now.status_message}")
        figures |= pace(robot, windows, "STANDBY")
    report("The stepped robot", figures, options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
