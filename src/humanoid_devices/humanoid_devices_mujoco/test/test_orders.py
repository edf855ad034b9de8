"""Reset, wrenches and time between two ticks."""

from __future__ import annotations

import math
import threading
from typing import Any

import mujoco
import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.safety import SafetyLevel


def test_a_reset_takes_the_joints_back_and_never_the_time(simulate: Any, one_joint: Any) -> None:
    simulation = simulate(one_joint(initial=0.4).urdf())
    simulation.command.effort[:] = 2.0
    simulation.run(0.5)
    moved, before = simulation.state.position[0], simulation.system.time

    simulation.system.request_reset()
    assert simulation.state.position[0] == moved  # nothing happens within a tick
    simulation.system.read(simulation.state, before, simulation.period)

    assert abs(moved - 0.4) > 0.5
    assert simulation.state.array[:, 0].tolist() == [0.4, 0.0, 0.0]
    assert simulation.system.time == before
    assert simulation.system.data.time == before
    simulation.tick()
    assert simulation.system.time == pytest.approx(before + simulation.period)


def test_a_teleport_is_reported_to_the_checks(simulate: Any, one_joint: Any) -> None:
    simulation = simulate(one_joint(initial=0.4).urdf())
    simulation.run(0.1)
    before = simulation.system.teleports
    simulation.system.request_reset()
    simulation.tick()
    assert simulation.system.teleports == before + 1
    simulation.run(0.1)
    assert simulation.system.teleports == before + 1


def test_time_is_whole_periods_through_resets_faults_and_activations(
    simulate: Any, one_joint: Any
) -> None:
    simulation = simulate(one_joint().urdf())
    times = []

    def diverge() -> None:
        simulation.system.apply_wrench("arm", (1e13, 0, 0), (0, 0, 1e13))

    for event in (lambda: None, simulation.system.request_reset, diverge):
        event()
        for _ in range(50):
            simulation.tick()
            times.append(simulation.system.time)
    assert simulation.system.safety().level is SafetyLevel.FAULT
    simulation.system.on_deactivate()
    simulation.system.on_activate(simulation.state)
    times.append(simulation.system.time)

    assert (np.diff(times) >= 0.0).all()
    assert times[:150] == pytest.approx(np.arange(1, 151) * simulation.period, rel=1e-12)
    assert simulation.system.safety().level is SafetyLevel.OK  # activation starts again
    assert times[-1] == pytest.approx(150 * simulation.period)


def test_a_motion_after_a_reset_is_the_motion_after_the_start(
    prime: Any, raised_pose: FloatArray
) -> None:
    prime.command.position[:] = raised_pose
    prime.command.stiffness[:] = 20.0
    prime.command.damping[:] = 2.0
    first = prime.run(0.5)
    prime.system.apply_wrench("left_wrist_yaw_link", (5, 0, 0), (0, 0, 0))
    prime.run(0.5)

    prime.system.request_reset()
    prime.system.read(prime.state, prime.system.time, prime.period)
    second = prime.run(0.5)

    assert np.array_equal(first.position, second.position)
    assert np.array_equal(first.effort, second.effort)


def test_a_wrench_lasts_until_it_is_changed(simulate: Any, one_joint: Any) -> None:
    joint = one_joint()
    simulation = simulate(joint.urdf())
    simulation.system.apply_wrench("arm", (0, 0, 0), (0, 0, 0.6))
    simulation.tick()
    assert simulation.state.velocity[0] == 0.0  # the write before the read did not have it

    pushed = simulation.run(0.1)
    simulation.system.apply_wrench("arm", (0, 0, 0), (0, 0, 0))
    simulation.tick()
    coasting = simulation.run(0.1)

    assert pushed.velocity[-1, 0] == pytest.approx(0.6 / joint.inertia * 0.1, rel=1e-3)
    assert np.ptp(coasting.velocity) == pytest.approx(0.0, abs=1e-9)
    assert not pushed.effort.any()  # a wrench is not the actuator's effort


def test_orders_of_other_threads_are_carried_out_whole(simulate: Any, one_joint: Any) -> None:
    simulation = simulate(one_joint().urdf())
    system, stop = simulation.system, threading.Event()

    def push() -> None:
        value = 0.0
        while not stop.is_set():
            value += 1.0
            system.apply_wrench("arm", (value,) * 3, (value,) * 3)

    threads = [threading.Thread(target=push) for _ in range(2)]
    for thread in threads:
        thread.start()
    seen = []
    while len(seen) < 300 or len(set(seen)) < 3:
        system.read(simulation.state, 0.0, 0.0)
        wrench = set(system.data.xfrc_applied[1])
        assert len(wrench) == 1  # never a mixture of two
        seen.append(wrench.pop())
    stop.set()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("body", ["elbow", "world", ""])
def test_a_wrench_on_an_unknown_body_is_refused(prime: Any, body: str) -> None:
    with pytest.raises(ConfigError, match=rf"unknown body '{body}'; known: left_shoulder_pitch_"):
        prime.system.apply_wrench(body, (0, 0, 0), (0, 0, 0))


@pytest.mark.parametrize("force", [(math.nan, 0, 0), (0, math.inf, 0), (1, 2)], ids=str)
def test_a_wrench_that_is_not_three_finite_numbers_is_refused(
    prime: Any, force: tuple[float, ...]
) -> None:
    with pytest.raises(ConfigError, match=r"left_wrist_yaw_link.*expected three finite numbers"):
        prime.system.apply_wrench("left_wrist_yaw_link", force, (0, 0, 0))


def test_deactivated_joints_have_no_torque(prime: Any, raised_pose: FloatArray) -> None:
    prime.command.position[:] = raised_pose
    prime.command.stiffness[:] = 20.0
    prime.run(0.1)
    assert np.abs(prime.state.effort).max() > 1.0

    prime.system.on_deactivate()

    mujoco.mj_forward(prime.system.model, prime.system.data)
    assert not prime.system.data.actuator_force.any()
