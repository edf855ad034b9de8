"""The gate: open only while complete and finite positions keep arriving."""

from __future__ import annotations

import math

import pytest

from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate

JOINTS = ["shoulder", "elbow"]


@pytest.mark.parametrize(
    ("rate", "limit"), [(50, 0.1), (100, 0.05), (1000, 0.05), (20, 0.25)], ids=str
)
def test_the_gate_stays_open_for_five_periods_but_at_least_50_ms(rate: int, limit: float) -> None:
    gate = JointStatesGate(JOINTS, 1.0 / rate)
    assert gate.obstacle(0.0) == "waiting for /prime/joint_states"
    gate.seen(JOINTS, [0.0, 0.0], 10.0)
    assert gate.closes == pytest.approx(10.0 + limit)
    assert gate.obstacle(10.0 + limit - 1e-6) == ""
    assert gate.obstacle(10.0 + limit + 1e-6) != ""


def test_gate_opens_for_joint_states_with_other_joints_in_any_order() -> None:
    gate = JointStatesGate(JOINTS, 0.02)
    gate.seen(["elbow", "gripper", "shoulder"], [0.0, math.nan, 0.0], 1.0)
    assert gate.obstacle(1.0) == ""


@pytest.mark.parametrize(
    ("names", "positions", "flaw"),
    [
        (["shoulder"], [0.0], "no elbow in it"),
        ([], [], "no elbow, shoulder in it"),
        (JOINTS, [0.0], "1 positions for 2 names"),
        (JOINTS, [], "0 positions for 2 names"),
        (JOINTS, [0.0, math.nan], "elbow is nan"),
        (JOINTS, [math.inf, 0.0], "shoulder is inf"),
    ],
)
def test_an_incomplete_message_opens_nothing_and_closes_at_once(
    names: list[str], positions: list[float], flaw: str
) -> None:
    gate = JointStatesGate(JOINTS, 0.02)
    gate.seen(names, positions, 0.5)
    assert gate.obstacle(0.5) == f"waiting for /prime/joint_states: {flaw}"
    gate.seen(JOINTS, [0.0, 0.0], 1.0)
    for tick in range(10):
        now = 1.02 + 0.02 * tick
        gate.seen(names, positions, now)
        assert gate.closes <= now
        assert gate.obstacle(now) == f"waiting for /prime/joint_states: {flaw}"
    gate.seen(JOINTS, [0.0, 0.0], 1.2)
    assert gate.obstacle(1.2) == ""


def test_the_gate_returns_how_long_it_was_closed() -> None:
    gate = JointStatesGate(JOINTS, 0.02)
    assert gate.seen(JOINTS, [0.0, 0.0], 1.0) == math.inf
    assert gate.seen(JOINTS, [0.0, 0.0], 1.09) == 0.0
    assert gate.seen(JOINTS, [0.0, 0.0], 1.69) == pytest.approx(0.5)
    assert gate.seen(JOINTS, [0.0, math.nan], 1.70) == 0.0
    assert gate.seen(JOINTS, [0.0, 0.0], 1.72) == pytest.approx(0.02)
