"""The control process on MuJoCo, as fast as possible: the whole stack but for viewer and `hc`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest
from humanoid_control_msgs.msg import ControlMode
from rosgraph_msgs.msg import Clock

from humanoid_bringup.options import Backend

if TYPE_CHECKING:
    from src.humanoid_bringup_prime.test.conftest import Client, SharedRobot, StartControl

READY = [-0.15, 0.12, 0.0, -0.50, 0.0, 0.0, 0.0, -0.15, -0.12, 0.0, -0.50, 0.0, 0.0, 0.0]
# [Nm/rad] of STANDBY: 20 for the motors of wrist roll and pitch; for eRobs by their registers
# (velocity gain 19 of 0.10630, position gain 515 of 51.467).
EROB = 19 * 0.106301 * 515 / 51.4667
STIFFNESS = np.array([EROB, EROB, EROB, EROB, 20.0, 20.0, EROB] * 2)


def _time(message) -> float:
    return message.header.stamp.sec + message.header.stamp.nanosec * 1e-9


def _run_for(client, seconds: float) -> list:
    """Joint states of the next `seconds` of simulated time."""
    client.joint_states.clear()
    client.until(lambda: client.joint_states, "joint states")
    start = _time(client.joint_states[0])
    client.until(lambda: _time(client.joint_states[-1]) >= start + seconds, "simulated time")
    return list(client.joint_states)


def test_joints_of_the_mock_stay_slow_during_ten_seconds_of_damping(
    start_control: StartControl, client_type
):
    start_control(backend=Backend.MOCK, real_time_factor=0.0)
    with client_type() as client:
        client.connect()
        client.reach(ControlMode.DAMPING)
        _check_damping(client)


def _check_damping(client: Client) -> None:
    states = _run_for(client, 10.0)
    velocities = np.array([state.velocity for state in states])
    assert np.isfinite(velocities).all()
    assert np.abs(velocities).max() < 0.5
    assert np.abs(velocities[len(velocities) // 2 :]).max() < 0.05


@pytest.fixture
def client(simulated_robot: SharedRobot) -> Iterator[Client]:
    """A client of the simulation in DAMPING, which has begun again."""
    with simulated_robot.client() as client:
        client.reach(ControlMode.DAMPING)
        assert client.call("/mujoco/reset").success
        _run_for(client, 1.0)
        yield client


def test_standby_is_reached_and_held_where_gravity_lets_the_stiffness_hold_it(client):
    client.reach(ControlMode.STANDBY)
    client.finish_standby()
    last = _run_for(client, 5.0)[-1]
    position, effort = np.array(last.position), np.array(last.effort)
    assert np.abs(last.velocity).max() < 1e-3
    np.testing.assert_allclose(effort, STIFFNESS * (np.array(READY) - position), atol=1e-3)
    assert np.abs(effort).max() > 1.0  # gravity acts: the arms sag


def test_joints_stay_slow_during_ten_seconds_of_damping(client):
    _check_damping(client)


def test_the_clock_is_simulated_and_never_runs_backwards_not_even_in_a_reset(client):
    ticks: list[float] = []
    client.node.create_subscription(
        Clock, "/clock", lambda m: ticks.append(m.clock.sec + m.clock.nanosec * 1e-9), 10
    )
    client.until(lambda: ticks and ticks[-1] > ticks[0] + 5.0, "5 s of simulated time")
    assert client.call("/mujoco/reset").success
    after = len(ticks)
    client.until(lambda: len(ticks) > after + 50, "time going on")
    assert np.all(np.diff(ticks) >= 0.0)
    assert abs(_time(client.joint_states[-1]) - ticks[-1]) < 60.0


def test_released_arms_fall(client):
    client.reach(ControlMode.STANDBY)
    client.finish_standby()
    elbow = 3
    held = _run_for(client, 0.5)[-1].position[elbow]
    client.reach(ControlMode.DAMPING)
    client.reach(ControlMode.ZERO_TORQUE)
    fallen = _run_for(client, 3.0)[-1]
    assert abs(fallen.position[elbow]) < abs(held) - 0.05
    assert list(fallen.effort) == [0.0] * 14
