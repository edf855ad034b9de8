"""What safety costs per cycle: the control cycle with all its layers, and without any.

Prime's 14 joints in STANDBY on mock hardware, both loops in turns. Without: no limit stage, nothing
measured is judged, no command is checked, no safety report is taken. The black box's record of the
tick comes after the cycle; it is measured apart and belongs to the sum. Beside it each layer alone.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import numpy as np
from figures import Figure, arguments, figure, report, single
from in_process import Robot, robot

from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.flight_recorder import flight_recorder
from humanoid_controller_manager.hardware_group import HardwareGroup
from humanoid_controller_manager.limits import LimitStage
from humanoid_controller_manager.loop import SwitchRequest
from humanoid_controller_manager.runner import LoopRunner

if TYPE_CHECKING:
    from collections.abc import Iterator

RATE = 1000.0  # [Hz]
PERIOD = 1.0 / RATE
CHUNK = 500  # cycles in turns
CHUNKS = 60
CLOCK = time.perf_counter


class NoLimits(LimitStage):
    """Lets everything pass."""

    def apply(self, state: JointState, command: JointCommand, period: float) -> None:
        """Nothing."""


class Samples(NamedTuple):
    """Durations [s] of cycles."""

    layers: list[float]
    bare: list[float]
    record: list[float]


def in_standby(*, safe: bool) -> Robot:
    """Prime moving in STANDBY, with all layers or with none."""
    limits = LimitStage if safe else NoLimits
    arguments = {"use_fake_hardware": "true"}
    prime = robot(arguments, RATE, time.monotonic, limits=limits, supervised=safe)
    prime.loop.request(SwitchRequest("standby_controller", None, 1))
    return prime


@contextmanager
def unchecked() -> Iterator[None]:
    """No command is checked, and no safety report is taken."""
    with (
        patch.object(JointCommand, "is_valid", lambda command: True),
        patch.object(HardwareGroup, "refresh_reports", lambda group: False),
        patch.object(HardwareGroup, "unread", lambda group: ""),
    ):
        yield


def run(prime: Robot, first: int, samples: list[float]) -> None:
    """Ticks `first` and following, timed."""
    for i in range(first, first + CHUNK):
        begin = CLOCK()
        prime.loop.tick(i * PERIOD, PERIOD, float)
        samples.append(CLOCK() - begin)


def cycles(chunks: int) -> Samples:
    """Cycles with and without the layers, and what the black box takes of each tick."""
    samples = Samples([], [], [])
    safe, bare = in_standby(safe=True), in_standby(safe=False)
    runner = LoopRunner(safe.loop, RATE, lambda snapshot: None)
    flight = flight_recorder(safe.loop, runner, RATE, safe.description.urdf)
    gc.collect()
    for chunk in range(chunks):
        run(safe, chunk * CHUNK, samples.layers)
        with unchecked():
            run(bare, chunk * CHUNK, samples.bare)
        if flight is not None:
            samples.record.extend(durations(lambda: flight.record(safe.loop.snapshot), CHUNK))
    if flight is not None:
        flight.end()
    for prime in (safe, bare):
        assert prime.loop.snapshot.controller == "standby_controller", "it left STANDBY"
    return samples


def durations(call: Callable[[], object], count: int) -> list[float]:
    """Durations [s] of `count` calls."""
    samples = []
    for _ in range(count):
        begin = CLOCK()
        call()
        samples.append(CLOCK() - begin)
    return samples


def parts(count: int) -> dict[str, Figure]:
    """Each layer alone, called as the loop does."""
    prime = in_standby(safe=True)
    for i in range(CHUNK):
        prime.loop.tick(i * PERIOD, PERIOD, float)
    loop, state, command = prime.loop, prime.loop.snapshot.state, prime.loop.snapshot.command
    supervision = loop._supervision  # noqa: SLF001 - each layer alone is nobody else's business
    calls: dict[str, Callable[[], object]] = {
        "limit stage": lambda: loop.limits.apply(state, command, PERIOD),
        "measurements judged": lambda: supervision.look(state, command, PERIOD),
        "command checked": command.is_valid,
        "safety reports": loop.hardware.refresh_reports,
    }
    return {name: figure(durations(call, count), "us", 1e6) for name, call in calls.items()}


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    samples = cycles(2 if options.quick else CHUNKS)
    values = {
        "cycle with all layers": figure(samples.layers, "us", 1e6),
        "cycle without": figure(samples.bare, "us", 1e6),
    }
    total = np.median(samples.layers) - np.median(samples.bare)
    if samples.record:
        values["black box, per tick"] = figure(samples.record, "us", 1e6)
        total += np.median(samples.record)
    values["all layers and black box"] = single(float(total) * 1e6, "us")
    values |= parts(CHUNK if options.quick else CHUNK * CHUNKS)
    report("Safety layers (goal: 15 us per cycle)", values, options.json)


if __name__ == "__main__":
    main()
