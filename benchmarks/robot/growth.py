"""Measure the growth of memory, file descriptors and threads in every process of a running robot.

`hc up twin` (or mujoco, mock) runs with its viewer, and gets the requests of an operator: DAMPING,
STANDBY, the status. Meanwhile every process is sampled: its own memory (anonymous and shared pages,
also those swapped out), its open file descriptors, its threads. The first part of the time does not
count: the first use of each part needs memory.
Reported per process: the slope of its memory (the median of the slopes between all pairs of
samples, so that a single step is none), and the largest change of descriptors and threads between
the quietest samples of the first and of the last third.
`--minutes 60` is the long form; `make soak` has a short one, with bounds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from benchmarks.support.figures import Figure, arguments, note, report, single
from benchmarks.support.processes import BenchmarkError, running
from benchmarks.support.program_runner import TIMEOUT, Running, isolated

EVERY = 2.0  # [s] between two samples
ROUND = 20.0  # [s] between two requests of the operator
WARM = 0.4  # of the time, which does not count
MARK = "HC_GROWTH"  # in the environment of all processes of `hc up`
REQUESTS = (("mode", "standby"), ("status",), ("mode", "damp"), ("clear-fault",))
MEMORY = ("RssAnon", "RssShmem", "VmSwap")  # lines of /proc/PID/status [kB]


@dataclass(slots=True)
class Course:
    """The samples of one process."""

    program: str
    time: list[float] = field(default_factory=list)  # [s]
    memory: list[float] = field(default_factory=list)  # [kB]
    descriptors: list[int] = field(default_factory=list)
    threads: list[int] = field(default_factory=list)

    def growth(self) -> Growth:
        """Return the growth after the warm-up."""
        begin = int(np.searchsorted(self.time, WARM * self.time[-1]))
        return Growth(
            slope=max(0.0, slope(self.time[begin:], self.memory[begin:]) * 60.0),
            memory=max(self.memory),
            descriptors=drift(self.descriptors[begin:]),
            threads=drift(self.threads[begin:]),
        )


@dataclass(frozen=True, slots=True)
class Growth:
    """The growth of one process."""

    slope: float  # [kB/min]
    memory: float  # [kB] at its largest
    descriptors: int  # more at the end than at the beginning
    threads: int  # likewise


def slope(time: Sequence[float], values: Sequence[float]) -> float:
    """Return the median of the slopes between all pairs of samples; 0 of less than two samples."""
    first, second = np.triu_indices(len(time), 1)
    if not first.size:
        return 0.0
    x, y = np.asarray(time), np.asarray(values, dtype=float)
    return float(np.median((y[second] - y[first]) / (x[second] - x[first])))


def drift(counts: Sequence[int]) -> int:
    """Return the minimum of the last third minus that of the first, at least 0."""
    third = max(1, len(counts) // 3)
    return max(0, min(counts[-third:]) - min(counts[:third]))


def sample(mark: str, courses: dict[int, Course], now: float) -> None:
    """Add a sample at `now` [s] to that of each process with `mark` in its environment, by pid."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() not in (folder / "environ").read_bytes().split(b"\0"):
                continue
            name = program((folder / "cmdline").read_bytes())
            lines = (folder / "status").read_text("ascii").splitlines()
            descriptors = len(list((folder / "fd").iterdir()))
        except OSError:
            continue  # the process has ended
        values = {key: rest.split() for key, _, rest in (line.partition(":") for line in lines)}
        course = courses.setdefault(int(folder.name), Course(name))
        course.time.append(now)
        course.memory.append(sum(float(values[key][0]) for key in MEMORY if key in values))
        course.descriptors.append(descriptors)
        course.threads.append(int(values["Threads"][0]))


def program(command: bytes) -> str:
    """Return the name of a program, from its command line."""
    words = [word for word in command.decode(errors="replace").split("\0") if word]
    names = [word for word in words[1:] if not word.startswith("-")] or words or ["?"]
    return Path(names[0]).name.removesuffix(".py")


@contextmanager
def brought_up(backend: str) -> Iterator[tuple[Running, str]]:
    """Run `hc up` of a backend. Yield it and the mark of its processes."""
    mark = str(uuid.uuid4())
    os.environ[MARK] = mark
    try:
        with isolated(), running(["hc", "up", backend, "--port", "0"]) as robot:
            del os.environ[MARK]
            wait_until_up(robot)
            yield robot, mark
    finally:
        os.environ.pop(MARK, None)


def wait_until_up(robot: Running) -> None:
    """Wait until the robot is up."""
    end = time.monotonic() + 10 * TIMEOUT
    while "Prime is up" not in robot.text():
        robot.check()
        if time.monotonic() > end:
            raise BenchmarkError(f"the robot isn't up:\n{robot.text()}")
        time.sleep(0.2)


def ask(words: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start an operator's command. It may be refused: the next round repeats it."""
    quiet = subprocess.DEVNULL
    return subprocess.Popen(["hc", *words], stdin=quiet, stdout=quiet, stderr=quiet)


def follow(backend: str, seconds: float) -> list[Course]:
    """Return the samples of each process of a robot in use for `seconds`."""
    courses: dict[int, Course] = {}
    with brought_up(backend) as (robot, mark):
        begin, rounds, request = time.monotonic(), 0, None
        while (now := time.monotonic() - begin) < seconds:
            robot.check()
            if now > rounds * ROUND and (request is None or request.poll() is not None):
                request = ask(REQUESTS[rounds % len(REQUESTS)])
                rounds += 1
            sample(mark, courses, now)
            time.sleep(EVERY)
        if request:
            request.wait(TIMEOUT)
    # In the order of their starts, without short-lived ones.
    return [course for _, course in sorted(courses.items()) if course.time[-1] > 0.9 * seconds]


def figures_of(courses: Sequence[Course]) -> dict[str, Figure]:
    """Return the figures of the table."""
    figures: dict[str, Figure] = {}
    for course in courses:
        growth, name = course.growth(), course.program
        figures[f"{name}: memory"] = single(growth.memory / 1024, "MB")
        figures[f"{name}: slope"] = single(growth.slope, "kB/min")
        figures[f"{name}: descriptors"] = single(growth.descriptors, "more")
        figures[f"{name}: threads"] = single(growth.threads, "more")
    return figures


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = arguments(__doc__)
    parser.add_argument("--backend", default="mujoco", help="twin (needs root), mujoco or mock")
    parser.add_argument("--minutes", type=float, default=5.0, help="default: 5")
    parser.add_argument("--samples", type=Path, metavar="FILE", help="JSON of all samples")
    options = parser.parse_args(words)
    courses = follow(options.backend, 20.0 if options.quick else 60.0 * options.minutes)
    if options.samples:
        plain = {course.program: asdict(course) for course in courses}
        options.samples.write_text(json.dumps(plain), "utf-8")
        note(f"all samples are in {options.samples}")
    report(f"Growth, {options.backend}", figures_of(courses), options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
