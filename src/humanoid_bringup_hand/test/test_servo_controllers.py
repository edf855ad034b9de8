"""Each servo controller moves the fingers of Hand in MuJoCo within their speed limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_devices_mujoco.mujoco_system import MujocoSystem
from humanoid_servo_controllers.controllers import (
    EffortController,
    MixedPositionVelocityController,
    PositionController,
    ServoController,
    VelocityController,
)

RATE = 250.0  # [Hz] of Hand's loop
PERIOD = 1.0 / RATE
SAFE = 2.0  # velocity_safety_factor of Hand
OUTER = 0.075  # [rad] half the outer deadband: where a joint holds
VELOCITY = {"gains": {"p": 0.005, "i": 0.3, "i_clamp": 0.2}, "max_force": 0.4}
POSITION = {"gains": {"p": 0.5, "i": 0.5, "d": 0.01, "i_clamp": 0.02}, "max_force": 0.4}


def driven(
    kind: type[ServoController], parameters: dict[str, Any], command: float, seconds: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Positions and velocities (ticks, 6) of all joints, and the largest velocities (6,)."""
    urdf = find_robot("hand").expand({"use_sim": "true", "real_time_factor": "0"})
    description = parse_robot_description(urdf, RATE)
    (info,) = description.blocks
    system, controller = MujocoSystem(), kind()
    count = len(description.joints)
    state, order = JointState(count), JointCommand(count)
    system.on_configure(info)
    system.on_activate(state)
    facts = RobotFacts(description.joints, description.limits, RATE)
    controller.on_configure(kind.Parameters.model_validate(parameters), facts)
    rows = []
    for tick in range(round(seconds * RATE)):
        now = tick * PERIOD
        system.read(state, now, PERIOD)
        if tick == 0:
            controller.on_activate(state, order, now)
            controller.receive(np.full(count, command), now)
        controller.update(state, order, now, PERIOD)
        system.write(order, now, PERIOD)
        rows.append(np.array([state.position, state.velocity]))
    system.on_deactivate()
    positions, velocities = np.array(rows).transpose(1, 0, 2)
    return positions, velocities, description.limits.velocity


@pytest.mark.parametrize("effort", [0.05, 0.4, -0.4])
def test_an_effort_bends_the_fingers_and_no_speed_trips(effort: float) -> None:
    positions, velocities, limit = driven(EffortController, {"max_force": 0.4}, effort, 2.0)
    assert (np.abs(velocities) < SAFE * limit).all()
    assert (np.sign(effort) * (positions[-1] - positions[0]) > 0.0).all()


def test_a_velocity_is_reached() -> None:
    _, velocities, _ = driven(VelocityController, VELOCITY, 0.5, 2.0)
    np.testing.assert_allclose(velocities[-50:].mean(axis=0), 0.5, rtol=0.1)


def test_a_position_is_reached_and_held() -> None:
    positions, velocities, limit = driven(PositionController, POSITION, 0.8, 4.0)
    np.testing.assert_allclose(positions[-1], 0.8, atol=OUTER)
    assert (np.abs(velocities) < SAFE * limit).all()
    assert np.abs(velocities[-50:]).max() < 0.05


def test_a_position_is_reached_at_a_given_speed() -> None:
    parameters = VELOCITY | {"max_velocity": 1.0}
    positions, velocities, _ = driven(MixedPositionVelocityController, parameters, 0.8, 4.0)
    np.testing.assert_allclose(positions[-1], 0.8, atol=OUTER)
    assert np.abs(velocities).max() < 1.5
