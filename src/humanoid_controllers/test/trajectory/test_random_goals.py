"""Random goals, cancels and preemptions: never a step, never beyond a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_controllers.trajectory.goal import Status
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.points import Point

WIDE = 25  # joints: one random goal for each at once
CHECKED = 5000  # ticks after which the commanded positions are judged


def _ask(bench: Any, rng: np.random.Generator, width: int) -> Any:
    names = [f"joint_{i}" for i in range(width)]
    kind = rng.integers(5)
    if kind < 2:
        ends = dict(zip(names, rng.uniform(-1.9, 1.9, width), strict=True))
        return bench.planner.move(ends, bench.now, 0.0, rng.choice([0.0, 1.0]))
    if kind == 2:
        speeds = dict(zip(names, rng.uniform(-1.5, 1.5, width), strict=True))
        return bench.planner.jog(speeds, bench.now)
    times = np.cumsum(rng.uniform(1.5, 3.0, rng.integers(1, 4)))
    points = [Point(time, rng.uniform(-1.2, 1.2, width).tolist()) for time in times]
    begin = bench.now + rng.uniform(0.0, 1.0) if rng.random() < 0.3 else None
    return bench.planner.follow(names, points, bench.now, begin)


def _run(make_bench: Any, seed: int, count: int, width: int) -> dict[Status, int]:
    """Send goals until `count` are accepted; return the number of each outcome."""
    bench, rng = make_bench(width), np.random.default_rng(seed)
    accepted, ended = 0, {}
    while accepted < count:
        try:
            _ask(bench, rng, width)
            accepted += 1
        except MotionRefusedError:
            bench.tick()
        bench.tick(int(rng.choice([0, 1, 10, 30, 100, 300])))
        if rng.random() < 0.3:
            bench.planner.cancel()
            bench.tick(int(rng.choice([0, 1, 10, 100])))
        ended |= {number: status for number, status, _ in bench.follower.progress.ended}
        if len(bench.positions) > CHECKED:
            bench.planner.cancel()
            bench.run(3.0)
            assert bench.follower.progress.rests  # the next check begins at rest
            bench.refuse_steps()
            del bench.positions[:-1]
    bench.refuse_steps()
    return {status: list(ended.values()).count(status) for status in Status}


def test_10000_random_goals_cancels_and_preemptions_never_step(make_bench: Any) -> None:
    """400 times 25 joints, and 200 times one joint, which brakes alone."""
    found = _run(make_bench, 5, 400, WIDE)
    for status in (Status.SUCCEEDED, Status.CANCELED, Status.PREEMPTED):
        assert found[status] > 20, found
    found = _run(make_bench, 6, 200, 1)
    for status in (Status.SUCCEEDED, Status.CANCELED, Status.PREEMPTED):
        assert found[status] > 20, found


@pytest.mark.soak
def test_a_million_random_goals_never_step(make_bench: Any) -> None:
    for seed in range(20):
        _run(make_bench, 100 + seed, 2000, WIDE)
        _run(make_bench, 200 + seed, 2000, 1)
