"""Random goals, cancels and preemptions: never a step, never beyond a limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_controllers.trajectory.goal import Status
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.points import Point

WIDE = 25  # joints: one random goal for each at once


def _ask(bench: Any, rng: np.random.Generator) -> Any:
    names = [f"joint_{i}" for i in range(WIDE)]
    ends = rng.uniform(-1.9, 1.9, WIDE)
    kind = rng.integers(4)
    if kind == 0:
        speed = rng.choice([0.0, 1.0])
        return bench.planner.move(dict(zip(names, ends, strict=True)), bench.now, 0.0, speed)
    if kind == 1:
        speeds = rng.uniform(-1.5, 1.5, WIDE)
        return bench.planner.jog(dict(zip(names, speeds, strict=True)), bench.now)
    times = np.cumsum(rng.uniform(0.8, 3.0, rng.integers(1, 4)))
    points = [Point(time, rng.uniform(-1.9, 1.9, WIDE).tolist()) for time in times]
    begin = bench.now + rng.uniform(0.0, 1.0) if rng.random() < 0.3 else None
    return bench.planner.follow(names, points, bench.now, begin)


def _run(make_bench: Any, seed: int, count: int) -> dict[Status, int]:
    bench, rng = make_bench(WIDE), np.random.default_rng(seed)
    goals, refused = [], 0
    for _ in range(count):
        try:
            goals.append(_ask(bench, rng))
        except MotionRefusedError:
            refused += 1
        bench.tick(int(rng.choice([0, 1, 10, 30, 100])))
        if rng.random() < 0.4:
            bench.planner.cancel()
            bench.tick(int(rng.choice([0, 1, 10, 100])))
        if rng.random() < 0.1:
            bench.run(3.0)
        if len(bench.positions) > 5000:
            bench.refuse_steps()
            del bench.positions[:-1]
            bench.run(5.0)  # the next check begins at rest
            del bench.positions[:-1]
    bench.refuse_steps()
    found = dict.fromkeys(Status, 0)
    for _, status, _ in bench.follower.progress.ended:
        found[status] += 1
    assert refused < 0.9 * count
    return found


def test_10000_random_goals_cancels_and_preemptions_never_step(make_bench: Any) -> None:
    """400 times 25 joints."""
    _run(make_bench, 5, 400)


@pytest.mark.soak
def test_a_million_random_goals_never_step(make_bench: Any) -> None:
    for seed in range(20):
        _run(make_bench, 100 + seed, 2000)
