"""The states that the server reads from the loop's records: each tick once, a late one flagged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_support.record_facts import record_facts

from humanoid_control_common.tick_records.record_file import create
from humanoid_control_common.tick_records.record_layout import Word
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_stream.server.robot_states import RobotStates, default_decimation
from src.humanoid_joint_stream.test.joint_bench import (
    COUNT,
    JOINTS,
    MS,
    PERIOD,
    Bench,
    later,
    update,
)

FACTS = record_facts(1e9 / PERIOD, seconds=10.0, joints=JOINTS, sources=(), counters=(), limited=())


class Recorded:
    """Ticks of a control loop, and the states that the server makes of them."""

    def __init__(self, folder: Path, joints: tuple[str, ...] = JOINTS) -> None:
        self.file = create(replace(FACTS, joints=joints), folder)
        self.bench = Bench()
        self.states = RobotStates(self.file, self.bench.session)
        self.time = 0  # [ns]

    def tick(self, period: int = PERIOD, rows: Sequence[Sequence[float]] | None = None) -> None:
        number = self.file.words[Word.TICKS] + 1
        self.time += period
        slot = self.file.ticks[(number - 1) % len(self.file.ticks)]
        slot["begin"] = slot["end"] = slot["tick"] = number
        slot["monotonic"], slot["state"] = self.time, number
        if rows is not None:
            slot["state"] = rows
        self.file.words[Word.TICKS] = number

    def fresh(self) -> Sequence[Any]:
        return [pb.State.FromString(it.message) for it in self.states.fresh()]


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    it = Recorded(tmp_path)
    it.tick()
    assert [state.tick for state in it.fresh()] == [1]
    return it


def test_every_tick_is_one_state_with_its_time_and_joints(recorded: Recorded) -> None:
    for _ in range(2):
        recorded.tick()
    recorded.tick(rows=[[0.1] * COUNT, [0.2] * COUNT, [0.3] * COUNT])
    found = recorded.fresh()
    assert [state.tick for state in found] == [2, 3, 4]
    assert [state.acquired for state in found] == [2 * PERIOD, 3 * PERIOD, 4 * PERIOD]
    last = found[-1]
    assert (list(last.position), list(last.velocity)) == ([0.1] * COUNT, [0.2] * COUNT)
    assert list(last.load) == [0.3] * COUNT
    assert recorded.fresh() == []


@pytest.mark.parametrize(("part", "late"), [(1.0, False), (1.5, False), (1.51, True), (4.0, True)])
def test_a_tick_half_a_period_late_is_flagged(recorded: Recorded, part: float, late: bool) -> None:
    recorded.tick(round(part * PERIOD))
    recorded.tick()
    assert [state.late_tick for state in recorded.fresh()] == [late, False]


def test_a_tick_after_missed_ones_is_not_called_late(recorded: Recorded) -> None:
    recorded.tick()
    recorded.tick()
    slots = recorded.file.ticks
    slots[1]["begin"] = 0  # tick 2 is being overwritten
    assert [(state.tick, state.late_tick) for state in recorded.fresh()] == [(3, False)]


def test_states_have_the_joints_of_the_stream_where_it_commands_some_only(tmp_path: Path) -> None:
    recorded = Recorded(tmp_path, ("left", "wrist", "shoulder", "right", "elbow"))
    row = np.array([0.0, 3.0, 1.0, 9.0, 2.0])
    recorded.tick(rows=[row, 10 * row, 100 * row])
    (state,) = recorded.fresh()
    assert list(state.position) == [1.0, 2.0, 3.0]
    assert (list(state.velocity), list(state.load)) == ([10.0, 20.0, 30.0], [100.0, 200.0, 300.0])


def test_a_state_tells_the_update_in_force_from_the_one_received_last(recorded: Recorded) -> None:
    bench = recorded.bench.following()
    bench.send(update(bench.now, user_command_key=5))
    bench.tick()
    applied = bench.now
    bench.now += MS
    bench.send(later(bench.now, user_command_key=6))
    recorded.tick()
    (state,) = recorded.fresh()
    last = state.last_command
    assert (last.user_command_key, last.received) == (6, applied + MS)
    assert (last.applied_key, last.applied) == (5, applied)


@pytest.mark.parametrize(
    ("update_rate", "decimation"), [(50.0, 1), (200.0, 1), (333.0, 1), (500.0, 2), (1000.0, 3)]
)
def test_states_come_at_333_hz_or_at_the_rate_of_a_slower_loop(
    update_rate: float, decimation: int
) -> None:
    assert default_decimation(update_rate) == decimation
