"""Every row of the MIT table on one joint whose motion is known in closed form."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState, mit_torque

GRAVITY = 9.81  # [m/s^2], MuJoCo's


def mass_spring_damper(inertia: float, kp: float, kd: float, start: float) -> Callable[..., Any]:
    """Position and velocity at time t of I x'' + kd x' + kp x = 0 from `start` at rest."""
    decay, frequency = kd / (2 * inertia), kp / inertia

    def solution(t: FloatArray) -> tuple[FloatArray, FloatArray]:
        if math.isclose(decay**2, frequency):
            position = start * (1 + decay * t) * np.exp(-decay * t)
            return position, -start * decay**2 * t * np.exp(-decay * t)
        root = np.sqrt(complex(decay**2 - frequency))
        fast, slow = -decay - root, -decay + root
        a, b = -slow / (fast - slow), fast / (fast - slow)
        position = start * (a * np.exp(fast * t) + b * np.exp(slow * t))
        velocity = start * (a * fast * np.exp(fast * t) + b * slow * np.exp(slow * t))
        return position.real, velocity.real

    return solution


@pytest.mark.parametrize("ratio", [0.1, 0.5, 1.0, 2.5], ids=lambda r: f"damping ratio {r}")
def test_impedance_moves_like_a_mass_on_spring_and_damper(
    simulate: Any, one_joint: Any, ratio: float
) -> None:
    joint = one_joint(initial=-0.4)
    kp = 20.0
    kd = ratio * 2 * math.sqrt(kp * joint.inertia)
    simulation = simulate(joint.urdf())
    simulation.command.stiffness[:] = kp
    simulation.command.damping[:] = kd
    simulation.command.position[:] = 0.3

    history = simulation.run(2.0)

    position, velocity = mass_spring_damper(joint.inertia, kp, kd, -0.7)(history.time)
    assert np.abs(history.position[:, 0] - 0.3 - position).max() < 0.02 * 0.7
    assert np.abs(history.velocity[:, 0] - velocity).max() < 0.02 * np.abs(velocity).max()


@pytest.mark.parametrize("kp", [5.0, 20.0, 300.0])
@pytest.mark.parametrize("torque", [1.0, -2.5])
def test_impedance_yields_to_a_wrench_by_torque_over_stiffness(
    simulate: Any, one_joint: Any, kp: float, torque: float
) -> None:
    simulation = simulate(one_joint().urdf())
    simulation.command.stiffness[:] = kp
    simulation.command.damping[:] = 2.0
    simulation.command.position[:] = 0.25
    simulation.system.apply_wrench("arm", (0, 0, 0), (0, 0, torque))

    simulation.run(5.0)

    assert simulation.state.position[0] - 0.25 == pytest.approx(torque / kp, rel=0.01)
    assert simulation.state.effort[0] == pytest.approx(-torque, rel=0.01)


def test_impedance_sags_by_gravity_torque_over_stiffness(simulate: Any, one_joint: Any) -> None:
    joint = one_joint(axis="0 1 0")  # the centre of mass points forward, gravity turns it down
    simulation = simulate(joint.urdf())
    simulation.command.stiffness[:] = 8.0
    simulation.command.damping[:] = 2.0

    simulation.run(5.0)

    sag = simulation.state.position[0]
    gravity = joint.mass * GRAVITY * joint.arm * math.cos(sag)
    assert gravity > 1.0
    assert sag == pytest.approx(gravity / 8.0, rel=0.01)


def test_computed_torque_follows_a_sine_that_impedance_alone_lags_behind(
    simulate: Any, one_joint: Any
) -> None:
    joint = one_joint(axis="0 1 0", centre="0 0 -0.2")

    def largest_error(with_inverse_dynamics: bool) -> float:
        simulation = simulate(joint.urdf(), update_rate=1000.0)
        amplitude, omega = 0.8, 6.0  # [rad], [rad/s]
        errors = []

        def follow() -> None:
            t = simulation.system.time
            q, qd = amplitude * math.sin(omega * t), amplitude * omega * math.cos(omega * t)
            errors.append(abs(q - simulation.state.position[0]))
            weight = joint.mass * GRAVITY * joint.arm * math.sin(q)
            torque = joint.inertia * -(omega**2) * q + weight
            simulation.command.array[:, 0] = (q, qd, torque * with_inverse_dynamics, 5.0, 0.3)

        simulation.place(0.0, amplitude * omega)
        simulation.run(3.0, before=follow)
        return max(errors)

    assert largest_error(with_inverse_dynamics=True) < 0.002
    assert largest_error(with_inverse_dynamics=False) > 0.02


def test_damping_alone_slows_down_exponentially(simulate: Any, one_joint: Any) -> None:
    joint = one_joint()
    simulation = simulate(joint.urdf())
    simulation.place(-1.0, 8.0)
    simulation.command.damping[:] = 0.6
    simulation.command.position[:] = 2.9  # without stiffness a target has no effect

    history = simulation.run(1.0)

    expected = 8.0 * np.exp(-0.6 / joint.inertia * history.time)
    assert np.abs(history.velocity[:, 0] - expected).max() < 0.02 * 8.0
    travelled = history.position[-1, 0] + 1.0
    assert travelled == pytest.approx(8.0 * joint.inertia / 0.6, rel=0.02)


def test_damping_towards_a_commanded_velocity_reaches_it(simulate: Any, one_joint: Any) -> None:
    simulation = simulate(one_joint(initial=-2.0).urdf())
    simulation.command.damping[:] = 2.0
    simulation.command.velocity[:] = 1.5

    simulation.run(1.0)

    assert simulation.state.velocity[0] == pytest.approx(1.5, rel=1e-3)


@pytest.mark.parametrize("torque", [0.5, -1.2])
def test_pure_torque_is_the_torque_applied_and_accelerates_the_inertia(
    simulate: Any, one_joint: Any, torque: float
) -> None:
    joint = one_joint()
    simulation = simulate(joint.urdf())
    simulation.command.effort[:] = torque

    history = simulation.run(0.3)

    assert history.effort[:, 0] == pytest.approx(torque, rel=1e-3)
    assert history.velocity[:, 0] == pytest.approx(torque / joint.inertia * history.time, rel=1e-3)


def test_zero_torque_swings_freely_and_keeps_its_energy(simulate: Any, one_joint: Any) -> None:
    joint = one_joint(axis="0 1 0", centre="0 0 -0.2", initial=1.5)
    simulation = simulate(joint.urdf())

    history = simulation.run(2.0)

    assert not history.effort.any()
    position, velocity = history.position[:, 0], history.velocity[:, 0]
    assert position.min() < -1.4  # the arm fell, and swung up on the other side
    weight = joint.mass * GRAVITY * joint.arm
    energy = joint.inertia * velocity**2 / 2 - weight * np.cos(position)
    swing = weight * (1 - math.cos(1.5))
    assert np.abs(energy + weight * math.cos(1.5)).max() < 0.02 * swing


def test_the_law_is_evaluated_at_every_physics_step(simulate: Any, one_joint: Any) -> None:
    joint = one_joint(initial=0.5)
    simulation = simulate(joint.urdf(), update_rate=50.0)
    simulation.command.stiffness[:] = 40.0
    simulation.command.damping[:] = 3.0

    simulation.tick()

    position, velocity = 0.5, 0.0
    for _ in range(20):  # steps of 1 ms in a period of 20 ms
        velocity += (-40.0 * position - 3.0 * velocity) / joint.inertia * 0.001
        position += velocity * 0.001
    assert simulation.state.position[0] == pytest.approx(position, rel=1e-9)
    assert simulation.state.velocity[0] == pytest.approx(velocity, rel=1e-9)


def numbers(low: float, high: float) -> st.SearchStrategy[float]:
    return st.floats(low, high, allow_subnormal=False)


@settings(deadline=None, max_examples=300)
@given(data=st.data())
def test_the_applied_effort_is_the_mit_law_within_the_limit(
    data: st.DataObject, simulate: Any, one_joint: Any
) -> None:
    simulation = simulate(one_joint(effort=30.0).urdf(), update_rate=1000.0)
    ranges = ((-3, 3), (-5, 5), (-30, 30), (0, 5000), (0, 100))  # in the order of the interfaces
    command = [data.draw(numbers(*bounds)) for bounds in ranges]
    start = np.array([data.draw(numbers(-2.9, 2.9))]), np.array([data.draw(numbers(-10, 10))])
    simulation.command.array[:, 0] = command
    simulation.place(*start)
    expected = mit_torque(
        JointCommand(1, np.array(command)[:, None]), JointState(1, np.array([*start, [0.0]]))
    )

    simulation.tick()

    limited = float(np.clip(expected[0], -30.0, 30.0))
    assert simulation.state.effort[0] == pytest.approx(limited, rel=1e-9, abs=1e-9)
