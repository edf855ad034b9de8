"""With compensation and deadband, a joint with friction tracks, arrives, and rests."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_support.friction_joint import JOINT, RATE, FrictionJoint, planted

from humanoid_control_common.robot.joints import FloatArray
from humanoid_servo_controllers.controllers import PositionController
from humanoid_servo_controllers.friction_file import FrictionMaps, save_friction_maps

TARGET = 0.1  # [rad]
AMPLITUDE = 0.1  # [rad]
NOISE = 0.0002  # [rad]
DEADBAND = 0.003  # [rad]
GAINS = {"p": 20.0, "d": 0.5}
HUNTING = {"p": 20.0, "i": 20.0, "d": 0.5, "i_clamp": 3.0}
STILL = 0.001  # [Nm]


@pytest.fixture
def with_map(tmp_path: Path) -> dict[str, Any]:
    """Parameters of a controller with the map of the friction."""
    file = tmp_path / "friction.yaml"
    save_friction_maps(file, FrictionMaps(date(2026, 11, 24), "sweep", {JOINT: planted()}))
    return {"friction_map": str(file), "friction_deadband": 0.1}


def held(parameters: dict[str, Any], seconds: float, noise: float = 0.0) -> FloatArray:
    """Errors [rad] and efforts [Nm] of a joint that has been sent to TARGET, (ticks, 2)."""
    joint = FrictionJoint(PositionController, parameters, noise=noise)
    joint.tick(TARGET)
    rows = []
    for _ in range(round(seconds * RATE)):
        effort = joint.tick(None)
        rows.append((TARGET - joint.plant.position[0], effort))
    return np.array(rows)


def test_with_the_map_a_joint_rests_much_nearer_to_its_target(with_map: dict[str, Any]) -> None:
    """The error is at least 50 % smaller, and the joint does not hunt outside the deadband."""
    own = {"gains": GAINS, "deadband": DEADBAND}
    without, compensated = (held(own | more, 7.0) for more in ({}, with_map))
    assert abs(compensated[-1, 0]) < 0.5 * abs(without[-1, 0])
    last = compensated[-round(5.0 * RATE) :, 0]
    assert last.max() - last.min() < DEADBAND


@pytest.mark.parametrize("minutes", [1, pytest.param(10, marks=pytest.mark.soak)])
def test_joint_with_a_deadband_is_not_driven_while_it_holds(
    with_map: dict[str, Any], minutes: int
) -> None:
    """There is noise, and an integral part that would hunt without the deadband."""
    own = with_map | {"gains": HUNTING, "deadband": DEADBAND}
    error, effort = held(own, 60.0 * minutes + 10.0, NOISE)[round(10.0 * RATE) :].T
    driven = np.abs(np.diff(effort)) > STILL
    assert np.count_nonzero(np.diff(np.sign(effort))) == 0
    assert np.count_nonzero(driven) == 0
    assert np.abs(error).max() < DEADBAND


def test_joint_without_a_deadband_hunts(with_map: dict[str, Any]) -> None:
    effort = held(with_map | {"gains": HUNTING, "deadband": 0.0}, 20.0, NOISE)[2000:, 1]
    assert np.count_nonzero(np.diff(np.sign(effort))) > 100


def tracked(parameters: dict[str, Any], peak: float) -> float:
    """RMS error [rad] of tracking a sine of up to `peak` [rad/s], without its beginning."""
    joint = FrictionJoint(PositionController, {"gains": GAINS, "deadband": 0.0} | parameters)
    rate = peak / AMPLITUDE
    errors = []
    while joint.now < 1.25 * 2.0 * np.pi / rate:
        target = AMPLITUDE * np.sin(rate * joint.now)
        joint.tick(target)
        errors.append(target - joint.plant.position[0])
    return float(np.sqrt(np.mean(np.square(errors[len(errors) // 5 :]))))


@pytest.mark.parametrize(
    ("peak", "more"), [(0.01, {}), (0.05, {"friction_velocity_decay": 0.0})], ids=["slow", "fast"]
)
def test_tracking_is_three_times_better_with_the_map(
    peak: float, more: dict[str, float], with_map: dict[str, Any]
) -> None:
    assert tracked({}, peak) > 3.0 * tracked(with_map | more, peak)
