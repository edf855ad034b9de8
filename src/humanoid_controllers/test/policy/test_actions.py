"""LOCOMOTION: the time at which an action acts, and the commands of each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

MOTION = {"joints": ["elbow"], "times": [0.6, 1.2], "positions": [0.3, -0.5]}
SHOULDER, ELBOW, WRIST = range(3)
MakeBench = Callable[..., Any]


def test_until_the_first_action_the_measured_pose_is_held_with_the_policys_gains(
    bench: MakeBench, configured: MakeBench
) -> None:
    robot = configured([1.0, 1.0])
    robot.state.position[:] = [0.7, -0.2, 0.3]
    robot.activate()
    for _ in range(4):
        command = robot.tick()
        assert command.position == pytest.approx([0.7, -0.2, 0.3])
        assert command.stiffness == pytest.approx([20.0, 30.0, 5.5])
        assert command.damping == pytest.approx([2.0, 3.0, 0.25])
    assert robot.tick().position != pytest.approx([0.7, -0.2, 0.3])


def test_an_action_acts_one_policy_period_after_its_observation(bench: MakeBench) -> None:
    # The action of the elbow is 2 * its measured distance to the default, times 0.5.
    weights = np.zeros((3, 2))
    weights[2, 0] = 2.0
    robot = bench(weights=weights)
    seen = []
    for i in range(12):
        robot.state.position[ELBOW] = -0.5 + 0.001 * i
        seen.append(robot.tick().position[ELBOW])
    expected = [-0.5] * 4 + [-0.5 + 0.000] * 4 + [-0.5 + 0.004] * 4  # observed at ticks 0 and 4
    assert seen == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", ["joint_pos", "joint_vel", "joint_effort"])
def test_the_policy_observes_each_measurement_of_its_own_joints(
    bench: MakeBench, name: str
) -> None:
    """The action of the wrist is the observed value of the elbow, times 0.5."""
    weights = np.zeros((3, 2))
    weights[2, 1] = 1.0
    robot = bench(weights=weights, observation_names=name)
    robot.state.array[:] = [[0.1, -0.2, 0.0], [0.4, 0.6, 0.8], [1.0, 1.2, 1.4]]
    robot.tick(60)
    observed = {"joint_pos": -0.2 + 0.5, "joint_vel": 0.6, "joint_effort": 1.2}
    assert robot.command.position[WRIST] == pytest.approx(0.5 * observed[name], abs=1e-6)


def test_ticks_that_come_late_or_early_do_not_shift_the_policy_steps(bench: MakeBench) -> None:
    robot = bench(0.0)
    asked: list[float] = []
    ask = robot.controller.inference.ask
    robot.controller.inference.ask = lambda *it: (asked.append(robot.now), ask(*it))
    random = np.random.default_rng(3)
    begin = robot.now
    for i in range(400):
        robot.now = begin + i * 0.01 + random.uniform(-0.004, 0.004)
        robot.tick()
    grid = begin + 0.04 * np.arange(len(asked))
    assert len(asked) == 100
    assert np.abs(np.array(asked) - grid).max() < 0.005


@pytest.mark.parametrize("hold_up", [0.02, 0.5])
def test_after_a_hold_up_no_policy_step_is_made_up_for(bench: MakeBench, hold_up: float) -> None:
    """And the next action acts a whole policy period after its observation again."""
    robot = bench(0.0)
    asked: list[float] = []
    ask = robot.controller.inference.ask
    robot.controller.inference.ask = lambda *it: (asked.append(robot.now), ask(*it))
    robot.tick(8)
    robot.now += hold_up
    robot.tick(9)
    assert np.diff(asked) == pytest.approx([0.04, 0.04 + hold_up, 0.04, 0.04], abs=1e-6)
    assert len(asked) == 5


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_target_moves_no_faster_than_the_joints_may(bench: MakeBench, sign: float) -> None:
    robot = bench([3.0 * sign, 2.0 * sign])  # ±1.5, ±1 rad from the default
    robot.tick(4)
    before = robot.command.position.copy()
    for _ in range(60):
        after = robot.tick().position.copy()
        assert np.abs(after - before).max() <= 3.0 * 0.01 + 1e-12
        before = after
    assert before == pytest.approx([0.1, -0.5 + 1.5 * sign, sign])


def test_joints_without_action_hold_their_default_position(configured: MakeBench) -> None:
    robot = configured(0.0)
    robot.state.position[SHOULDER] = 0.4
    robot.activate()
    assert robot.tick(40).position[SHOULDER] == pytest.approx(0.1)


def test_deltas_add_up_from_the_measured_pose(configured: MakeBench) -> None:
    robot = configured([0.02, -0.02], action_kind="deltas")
    robot.state.position[:] = [0.1, 0.3, 0.2]
    robot.activate()
    assert robot.tick(8).position == pytest.approx([0.1, 0.31, 0.19])
    assert robot.tick(8).position == pytest.approx([0.1, 0.33, 0.17])


def test_residuals_go_with_the_motion_in_each_tick(bench: MakeBench) -> None:
    robot = bench([0.2, 0.0], action_kind="residuals", motion=MOTION)
    positions = np.array([robot.tick().position[ELBOW] for _ in range(140)])
    assert positions[30:61:30] == pytest.approx([-0.1 + 0.1, 0.3 + 0.1], abs=1e-6)
    steps = np.diff(positions[10:59])
    assert (steps > 0).all(), "the motion goes on between two policy steps"
    assert positions[-1] == pytest.approx(-0.4)
    assert robot.command.velocity == pytest.approx([0.0, 0.0, 0.0])


def test_the_velocity_of_the_motion_is_commanded_where_it_acts(
    bench: MakeBench, arms_per_mode: np.ndarray
) -> None:
    motion = {**MOTION, "joints": ["elbow", "wrist"], "positions": [0.3, 0.6, -0.5, 0.0]}
    robot = bench(0.0, action_kind="residuals", motion=motion, capabilities=arms_per_mode)
    speeds = np.array([robot.tick().velocity.copy() for _ in range(40)])
    assert not speeds[:, :WRIST].any()
    assert speeds[20, WRIST] > 1.0


def test_torques_are_efforts_at_the_default_position(
    bench: MakeBench, arms_per_mode: np.ndarray
) -> None:
    robot = bench(
        [3.0], action_kind="torques", action_joint_names="wrist", capabilities=arms_per_mode
    )
    assert robot.tick(4).effort == pytest.approx([0.0, 0.0, 0.0])
    command = robot.tick(4)
    assert command.effort == pytest.approx([0.0, 0.0, 1.5])
    assert command.position == pytest.approx([0.1, -0.5, 0.0])


def test_the_policy_gets_the_action_before(bench: MakeBench) -> None:
    weights = np.zeros((2, 2))
    weights[0, 0] = 0.5  # the action of the elbow is 1 + half of the one before
    robot = bench([1.0, 0.0], weights=weights, observation_names="actions")
    robot.state.position[ELBOW] = 0.0
    targets = []
    for _ in range(5):
        robot.tick(4)
        targets.append(robot.controller._target.position[2])
    assert targets[1:] == pytest.approx([0.0, 0.25, 0.375, 0.4375], abs=1e-6)


def test_the_phase_is_that_of_the_motion(bench: MakeBench) -> None:
    weights = np.array([[1.0, 0.0]])
    robot = bench(weights=weights, observation_names="phase", motion=MOTION)
    targets = []
    for _ in range(40):
        robot.tick(4)
        targets.append(robot.controller._target.position[2])
    phases = 2 * (np.array(targets[1:]) + 0.5)
    assert phases == pytest.approx(np.minimum(0.04 * np.arange(len(phases)) / 1.2, 1.0), abs=1e-6)
