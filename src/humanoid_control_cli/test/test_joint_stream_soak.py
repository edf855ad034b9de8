"""Long forms: ten minutes at 333 Hz, 10 000 programs that end, a million fuzzed updates."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import psutil
import pytest
import yaml
from test_support.programs.prepared_programs import PreparedPrograms

from humanoid_control_cli.mode_client import ModeClient
from humanoid_joint_client import InactiveError, JointClient
from humanoid_joint_client.address import socket_path
from humanoid_joint_stream.command.stream_execution import LATE
from src.humanoid_control_cli.test.conftest import Starter
from src.humanoid_control_cli.test.stream_breaking import disconnects
from src.humanoid_control_cli.test.stream_fuzzing import fuzz
from src.humanoid_control_cli.test.stream_robot import brought_up, connected, standing_by

RATE, PRIMES_RATE = 333, 50  # [Hz] of the loop
SECONDS = float(os.environ.get("SOAK_SECONDS", "600"))
WARM = 0.1  # share of the time before the memory is counted
GROWTH = 5e6  # [bytes]
COUNTED = 10.0  # [s] in which states are counted


@pytest.fixture(scope="module")
def robot(
    request: pytest.FixtureRequest,
    prepared: PreparedPrograms,
    quick_controllers: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Starter]:
    """A robot on mock hardware with a loop at the rate [Hz] of the test."""
    content = yaml.safe_load(quick_controllers.read_text())
    manager = content["controller_manager"]["ros__parameters"]
    manager["update_rate"] = request.param
    del manager["rl_policy_controller"], content["rl_policy_controller"]  # of whole ticks only
    folder = tmp_path_factory.mktemp("robot")
    file = folder / "controllers.yaml"
    file.write_text(yaml.safe_dump(content))
    starter = Starter(folder, prepared)  # one robot per rate: the next begins after its end
    try:
        yield brought_up(starter, "mock", file, "--full-mit")
    finally:
        starter.clean_up()


@pytest.fixture
def ready(robot: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModeClient]:
    yield from standing_by(robot, monkeypatch)


@pytest.fixture
def client(robot: Starter) -> Iterator[JointClient]:
    yield from connected(robot)


@pytest.mark.soak
@pytest.mark.parametrize("robot", [RATE], indirect=True)
def test_ten_minutes_at_333_hz(robot: Starter, ready: ModeClient, client: JointClient) -> None:
    """Cases 39 and 40.

    The summary has the times, which no test judges.
    """
    server = psutil.Process(robot.up.descendant("joint_stream"))
    states = client.states(decimation=1, keep=1000)
    pose = next(states).position
    ticks: list[tuple[int, int]] = []
    before = sent = late_ticks = 0
    with client.control() as control:
        begin = time.monotonic()
        for state in states:
            ticks.append((state.tick, state.acquired))
            try:
                control.send(pose, horizon=0.9)
                sent += 1
            except InactiveError:  # by design after a late tick of any cause
                assert longest_gap(ticks[-RATE:]) > LATE / RATE * 1e9
                late_ticks += 1
                control.activate()
                sent = 0
            elapsed = time.monotonic() - begin
            if not before and elapsed > WARM * SECONDS:
                before = own_memory(server)
            if elapsed > SECONDS:
                break
        end = control.finish()
    grown = own_memory(server) - before
    counted = sum(it[1] - ticks[0][1] <= COUNTED * 1e9 for it in ticks)
    sys.stdout.write(
        f"{len(ticks)} states in {SECONDS:g} s, {counted} of them in {COUNTED:g} s; streams ended "
        f"by a late tick: {late_ticks}; grown by {grown / 1e6:.2f} MB\n{client.latency}\n"
    )
    assert grown < GROWTH
    assert end.counters.accepted == end.counters.received == sent - control.dropped
    assert all(b[0] > a[0] and b[1] > a[1] for a, b in pairwise(ticks))
    assert abs(counted - RATE * COUNTED) <= 0.01 * RATE * COUNTED


def own_memory(process: psutil.Process) -> int:
    """Return the private memory of a process [bytes]; records shared with the loop count once."""
    memory = process.memory_info()
    return int(memory.rss - memory.shared)


def longest_gap(ticks: list[tuple[int, int]]) -> int:
    """Return the longest time between two ticks [ns]."""
    return max(b[1] - a[1] for a, b in pairwise(ticks))


@pytest.mark.soak
@pytest.mark.parametrize("robot", [PRIMES_RATE], indirect=True)
def test_ten_thousand_programs_end_at_random(ready: ModeClient, client: JointClient) -> None:
    """Case 27.

    The summary has the ticks until the fallback.
    """
    found = disconnects(str(socket_path()), int(os.environ.get("SOAK_DISCONNECTS", "10000")), 2)
    for how in sorted({it.how for it in found}):
        ticks = [it.ticks for it in found if it.how == how and it.stiff]
        within = sum(it <= 2 for it in ticks)
        text = f"{how}: {len(ticks)}, {within} within 2 ticks, at most {max(ticks)} ticks\n"
        sys.stdout.write(text)


@pytest.mark.soak
@pytest.mark.parametrize("robot", [PRIMES_RATE], indirect=True)
def test_a_million_fuzzed_updates(robot: Starter, ready: ModeClient, client: JointClient) -> None:
    """Case 41, through the socket of a robot.

    The summary has the number of streams, and the memory.
    """
    server = psutil.Process(robot.up.descendant("joint_stream"))
    count, path = int(os.environ.get("SOAK_UPDATES", "1000000")), str(socket_path())
    fuzz(path, count // 10, 1)
    before = own_memory(server)
    begin = time.monotonic()
    sent = fuzz(path, count, 2)
    grown = own_memory(server) - before
    sys.stdout.write(f"{sent} in {time.monotonic() - begin:.0f} s; grown by {grown / 1e6:.2f} MB\n")
    assert grown < GROWTH
    assert sent.accepted > sent.received // 10
    assert sent.stiff > 0
