"""The loop gets only valid commands from any input."""

from __future__ import annotations

import os
import resource
from random import Random

import numpy as np
import pytest

from humanoid_joint_client import Execution
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.rpc import parser
from humanoid_joint_stream.server.command_stream import CommandStream
from src.humanoid_joint_stream.test.fuzzed_updates import fuzzed
from src.humanoid_joint_stream.test.joint_bench import COUNT, EFFORT, UPPER, Bench

MILLION = 1_000_000


def run(count: int, seed: int) -> tuple[int, int]:
    """Send `count` updates, a tick after each; return how many were accepted and executed."""
    bench, chance, parsed = Bench(), Random(seed), parser(pb.Update)
    accepted = executed = 0
    bench.following()
    for _ in range(count):
        assert bench.stream is not None
        if bench.stream.end is not None:
            accepted += bench.stream.counters.accepted
            bench.session.begin_activation(bench.now)
            bench.stream = CommandStream(bench.file.facts, bench.now)
            bench.session.open_stream(bench.stream, bench.lease, bench.now)
        bench.send(parsed(fuzzed(bench.now, COUNT, bench.lease, chance)))
        rows = bench.tick().array
        assert np.isfinite(rows).all()
        assert (np.abs(rows[0]) <= UPPER).all()
        assert (np.abs(rows[2]) <= EFFORT).all()
        assert (rows[3:] >= 0.0).all()
        executed += bench.execution is Execution.FOLLOWING
    return accepted, executed


def test_the_loop_gets_valid_commands_only_whatever_comes() -> None:
    """Case 41, structured; `make soak` sends a million."""
    accepted, executed = run(3000, 1)
    assert 300 < accepted < 2700
    assert executed > 300


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_a_million_random_updates(seed: int) -> None:
    """Case 41, in four parts."""
    run(10_000, seed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    count = int(os.environ.get("SOAK_UPDATES", MILLION)) // 4
    assert min(run(count, seed + 100)) > count // 10
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 5_000  # [KiB]
