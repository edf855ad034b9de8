"""Measure the cost of safety per cycle: the control cycle with all safety layers and without.

Prime's 14 joints are in STANDBY on mock hardware; both loops take turns. The loop without layers
has no limit stage, no measurement check, no check of commands and no safety reports. The black
box's record of the tick comes after the cycle; it is measured separately and added to the sum.
Each layer is also measured alone.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from itertools import repeat
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.support.figures import Figure, arguments, durations, figure, report, single
from benchmarks.support.in_process import Robot, robot
from humanoid_control_common.robot.joints import IndexArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.loop.control_loop import SwitchRequest
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.tick_recorder import tick_recorder
from humanoid_controller_manager.safety.limit_stage import LimitStage
from prime_description import expand

if TYPE_CHECKING:
    from collections.abc import Iterator

RATE = 1000.0  # [Hz]
PERIOD = 1.0 / RATE
CHUNK = 500  # cycles in turns
CHUNKS = 60
CLOCK = time.perf_counter


class NoLimits(LimitStage):
    """A limit stage without limits."""

    def apply(
        self,
        state: JointState,
        command: JointCommand,
        period: float,
        claimed_rows: Sequence[IndexArray] = (),
    ) -> None:
        """Do nothing."""


class Samples(NamedTuple):
    """Durations [s] of cycles."""

    layers: list[float]
    bare: list[float]
    record: list[float]


def in_standby(*, safe: bool) -> Robot:
    """Return Prime moving in STANDBY, with all layers or with none."""
    limits = LimitStage if safe else NoLimits
    urdf = expand({"use_fake_hardware": "true"})
    prime = robot(urdf, RATE, time.monotonic, limits=limits, supervised=safe)
    prime.loop.request(SwitchRequest("standby_controller", None, 1))
    return prime


@contextmanager
def unchecked() -> Iterator[None]:
    """Replace the checks of commands and the safety reports by functions that do nothing."""
    with (
        patch.object(JointCommand, "is_valid", lambda command: True),
        patch.object(HardwareGroup, "refresh_reports", lambda group: False),
        patch.object(HardwareGroup, "read_failure", lambda group: ""),
    ):
        yield


def run(prime: Robot, first: int, samples: list[float]) -> None:
    """Run CHUNK ticks from tick `first` on; append their durations [s] to `samples`."""
    for i in range(first, first + CHUNK):
        begin = CLOCK()
        prime.loop.tick(i * PERIOD, PERIOD, float)
        samples.append(CLOCK() - begin)


def cycles(chunks: int) -> Samples:
    """Measure cycles with and without the layers, and the black box's part of each tick."""
    samples = Samples([], [], [])
    safe, bare = in_standby(safe=True), in_standby(safe=False)
    runner = LoopThread(safe.loop, RATE, lambda snapshot: None)
    flight = tick_recorder(safe.loop, runner, RATE, safe.description.urdf)
    gc.collect()
    for chunk in range(chunks):
        run(safe, chunk * CHUNK, samples.layers)
        with unchecked():
            run(bare, chunk * CHUNK, samples.bare)
        if flight is not None:
            samples.record.extend(
                durations(repeat(lambda: flight.record(safe.loop.snapshot), CHUNK))
            )
    if flight is not None:
        flight.end()
    for prime in (safe, bare):
        assert prime.loop.snapshot.controller == "standby_controller", "it left STANDBY"
    return samples


def parts(count: int) -> dict[str, Figure]:
    """Measure each layer alone, called as in the loop."""
    prime = in_standby(safe=True)
    for i in range(CHUNK):
        prime.loop.tick(i * PERIOD, PERIOD, float)
    loop, state, command = prime.loop, prime.loop.snapshot.state, prime.loop.snapshot.command
    monitor = loop._monitor  # noqa: SLF001 - to measure each layer alone
    calls: dict[str, Callable[[], object]] = {
        "limit stage": lambda: loop.limits.apply(state, command, PERIOD),
        "measurements judged": lambda: monitor.check_measurement(state, command, PERIOD),
        "command checked": command.is_valid,
        "safety reports": loop.hardware.refresh_reports,
    }
    return {name: figure(durations(repeat(call, count)), "us", 1e6) for name, call in calls.items()}


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
