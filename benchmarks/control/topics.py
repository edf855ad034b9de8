"""Measure the latency of joint states to another process, and the cost of the control process.

The real control process (mock hardware, 14 joints, DAMPING) and a bare rclpy publisher of the same
message with the same QoS take turns at every rate, several rounds; this process is the only
subscriber of both, with one single-threaded executor, and runs before they start. Measured are:

* the time from the stamp, taken just before `publish()`, to the subscriber's callback (goal: within
  1.3 times of the bare one), and the share of the expected messages that arrived;
* the time from the start of the process to the first callback (goal: 1 s);
* the processor time of the publishing process in percent of one core, and its resident memory
  (goal: 200 MB).
"""

from __future__ import annotations

import time
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import psutil
from numpy.typing import NDArray
from sensor_msgs.msg import JointState

from benchmarks.support.figures import Figure, arguments, figure, ratio, report
from benchmarks.support.processes import Client, client, control, peer, running
from benchmarks.support.program_runner import isolated
from humanoid_bringup.options import Backend

TOPICS = {"control": "/prime/joint_states", "bare": "/bare/joint_states"}
RATES = (50, 200, 1000)  # [Hz]
ROUNDS = 4  # of starts at every rate
SETTLING = 1.0  # [s] after the first message, not measured
SECONDS = 4.0  # measured per start


@dataclass(frozen=True, slots=True)
class Run:
    """The measurements of one start of one process."""

    latency: NDArray[np.float64]  # [s] per message
    first: float  # [s] from the start of the process to its first message
    received: float  # part of the messages due
    processor: float  # [%] of one core
    memory: float  # [B], resident


class Subscriber:
    """Records stamp and arrival [ns] of every joint state of the running process."""

    def __init__(self, node: Client) -> None:
        self.client = node
        self.seen: list[tuple[int, int]] = []
        self._started = 0
        for topic in TOPICS.values():
            node.node.create_subscription(JointState, topic, self._receive, 10)

    def _receive(self, message: JointState) -> None:
        arrival = time.time_ns()
        stamp = message.header.stamp.sec * 1_000_000_000 + message.header.stamp.nanosec
        if stamp >= self._started:  # otherwise the queue has messages of the former process
            self.seen.append((stamp, arrival))

    def run(self, command: list[str], rate: int, seconds: float) -> Run:
        """Start `command` and receive its messages."""
        with running(command) as process:
            self.seen, self._started = [], process.started
            self.client.spin_until(lambda: bool(self.seen), "joint state", process)
            first = (self.seen[0][1] - process.started) * 1e-9
            self.client.spin_for(SETTLING, process)
            usage = psutil.Process(process.process.pid)
            self.seen = []
            begin, used = time.monotonic(), _processor_time(usage)
            self.client.spin_for(seconds, process)
            elapsed, used = time.monotonic() - begin, _processor_time(usage) - used
            memory = float(usage.memory_info().rss)
        stamps, arrivals = np.array(self.seen, dtype=np.int64).T
        received = len(stamps) / (rate * elapsed)
        return Run((arrivals - stamps) * 1e-9, first, received, 100.0 * used / elapsed, memory)


def _processor_time(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def measure(folder: Path, quick: bool) -> dict[tuple[str, int], list[Run]]:
    """Return the runs by kind of publisher and rate, taken in turns."""
    runs: dict[tuple[str, int], list[Run]] = defaultdict(list)
    rates, rounds, seconds = ((200,), 1, 0.5) if quick else (RATES, ROUNDS, SECONDS)
    with isolated(), client() as node:
        subscriber = Subscriber(node)
        for rate in rates:
            commands = {
                "control": control(folder, Backend.MOCK, rate),
                "bare": peer("joint_state_publisher", TOPICS["bare"], str(rate)),
            }
            for _ in range(rounds):
                for kind, command in commands.items():
                    runs[kind, rate].append(subscriber.run(command, rate, seconds))
    return runs


def figures_of(runs: dict[tuple[str, int], list[Run]]) -> dict[str, Figure]:
    """Return the figures of the table."""
    figures: dict[str, Figure] = {}
    for rate in sorted({rate for _, rate in runs}):
        name = f"publish to callback, {rate} Hz"
        latency = {
            kind: figure(np.concatenate([run.latency for run in runs[kind, rate]]), "us", 1e6)
            for kind in TOPICS
        }
        figures |= {f"{name}, {kind}": value for kind, value in latency.items()}
        figures[f"{name}, ratio"] = ratio(latency["control"], latency["bare"])
        for kind in TOPICS:
            of_kind = runs[kind, rate]
            figures[f"received, {rate} Hz, {kind}"] = figure(
                [run.received for run in of_kind], "%", 100.0
            )
            figures[f"processor, {rate} Hz, {kind}"] = figure(
                [run.processor for run in of_kind], "% of a core"
            )
    for kind in TOPICS:
        of_kind = [run for (k, _), several in runs.items() if k == kind for run in several]
        figures[f"start to first joint state, {kind}"] = figure([r.first for r in of_kind], "s")
        figures[f"resident memory, {kind}"] = figure([r.memory for r in of_kind], "MB", 1e-6)
    return figures


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    with TemporaryDirectory() as folder:
        figures = figures_of(measure(Path(folder), options.quick))
    report("Joint states (goals: ratio 1.3, first after 1 s, 200 MB)", figures, options.json)


if __name__ == "__main__":
    main()
