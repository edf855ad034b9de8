"""Measure the jitter of the control loop at 1 kHz with mock hardware: |period - 1 ms|.

Three programs take turns in several rounds, each with SCHED_FIFO and without (a process without
that permission):

* the loop alone (no ROS), handing every tick to a thread that converts it for publishing;
* the whole control process: loop, publishing without subscribers, executor, mode manager;
* cyclictest (Debian: rt-tests), a C program that only wakes up every millisecond, if it is
  installed.

Goal: p99.9 of the control process 0.2 ms with SCHED_FIFO. Without the permission, the runs with
SCHED_FIFO are left out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from benchmarks.support.figures import Figure, arguments, figure, note, report
from benchmarks.support.processes import control, peer, running
from benchmarks.support.program_runner import TIMEOUT, ProgramError, isolated
from humanoid_bringup.options import Backend
from humanoid_control_common.machine.realtime import LOOP_PRIORITY

RATE = 1000  # [Hz]
ROUNDS = 3
SECONDS = 11.0  # of every turn, the settling included
SETTLING = 0.1  # of a turn, left out
ANSWER = re.compile(r"^\s*0:\s*\d+:\s*(\d+)\s*$", re.MULTILINE)  # cyclictest -v: latency in us
# No permission to raise the priority: by limit for users, by capability for root.
ORDINARY = ("prlimit", "--rtprio=0")
ORDINARY_ROOT = (*ORDINARY, "setpriv", "--bounding-set=-sys_nice")

Measure = Callable[[bool], NDArray[np.float64] | None]  # with SCHED_FIFO? to periods [s]


def recorded(command: list[str], file: Path, fifo: bool) -> NDArray[np.float64] | None:
    """Return the periods [s] of a program with a record of its ticks; None without SCHED_FIFO."""
    prefix = () if fifo else ORDINARY_ROOT if os.geteuid() == 0 else ORDINARY
    with running([*prefix, *command]) as process:
        process.finish(SECONDS + TIMEOUT)
    content = json.loads(file.read_text("utf-8"))
    if (content["realtime"] == "granted") is not fifo:
        note(f"SCHED_FIFO requested: {fifo}; in the loop: {content['realtime']}")
        return None
    return settled(np.diff(content["starts"]))


def settled(periods: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `periods` without those at the start."""
    return periods[round(SETTLING * len(periods)) :]


def cyclictest(seconds: float, fifo: bool) -> NDArray[np.float64] | None:
    """Return the periods [s] of cyclictest; None if it is not installed or was refused."""
    if shutil.which("cyclictest") is None:
        note("cyclictest: not installed (Debian: rt-tests)")
        return None
    policy = ["--policy=fifo", f"--priority={LOOP_PRIORITY}"] if fifo else ["--policy=other"]
    interval = round(1e6 / RATE)  # [us]
    loops = str(round(seconds * RATE))
    # -v prints the latency of every cycle, from which the periods follow.
    words = ["cyclictest", "-v", "-m", "-t1", "-i", str(interval), "-l", loops, *policy]
    with running(words) as process:
        try:
            process.finish(seconds + TIMEOUT)
        except ProgramError as error:
            note(f"left out: {error}")
            return None
        text = process.text()
    late = np.array([int(latency) for latency in ANSWER.findall(text)], dtype=float)
    # A cycle later than the interval skips the cycles it missed.
    periods = interval * (1.0 + late[:-1] // interval) + np.diff(late)
    return settled(periods * 1e-6)


def programs(folder: Path, seconds: float) -> dict[str, Measure]:
    """Return the programs that take turns."""
    file = folder / "ticks.json"
    loop = peer("loop", str(file), str(seconds))
    arguments_of_control = control(folder, Backend.MOCK, RATE)[1:]
    whole = peer("recorded_control", str(file), str(seconds), *arguments_of_control)
    return {
        "loop alone": lambda fifo: recorded(loop, file, fifo),
        "control process": lambda fifo: recorded(whole, file, fifo),
        "cyclictest": lambda fifo: cyclictest(seconds, fifo),
    }


def measure(rounds: int, seconds: float) -> dict[str, Figure]:
    """Measure the jitter of every program, with and without SCHED_FIFO."""
    jitter: dict[str, list[NDArray[np.float64]]] = {}
    with TemporaryDirectory() as folder, isolated():
        todo = [
            (name, program, fifo)
            for name, program in programs(Path(folder), seconds).items()
            for fifo in (True, False)
        ]
        for _ in range(rounds):
            for name, program, fifo in todo:
                periods = program(fifo)
                if periods is not None:
                    title = f"{name}, {'SCHED_FIFO' if fifo else 'ordinary'}"
                    jitter.setdefault(title, []).append(np.abs(periods - 1.0 / RATE))
    return {
        title: figure(np.concatenate(parts), "us", 1e6, tail=True)
        for title, parts in jitter.items()
    }


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    figures = measure(1, 0.5) if options.quick else measure(ROUNDS, SECONDS)
    report("Loop jitter at 1 kHz (goal: p99.9 200 us with SCHED_FIFO)", figures, options.json)


if __name__ == "__main__":
    main()
