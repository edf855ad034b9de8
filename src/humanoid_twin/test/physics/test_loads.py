"""Hands, payloads and obstacles."""

import math
from collections.abc import Callable

import hypothesis.strategies as st
import pytest
from hypothesis import given

from humanoid_control_common.errors import ConfigError
from humanoid_twin.physics.loads import Loads
from humanoid_twin.physics.mujoco_plant import MujocoPlant

INERTIA = 0.06  # [kg m²]
SWING, LEVEL = 0, 1
DOWN = math.pi / 2  # [rad] of the hanging swing


@pytest.fixture
def loads(arms: MujocoPlant, two_arms_urdf: Callable[[], str]) -> Loads:
    arms.set_state(SWING, DOWN, 0.0)
    return Loads(arms.model, arms.data, two_arms_urdf())


def run(plant: MujocoPlant, steps: int) -> None:
    for _ in range(steps):
        plant.step(0.001)


def test_a_push_at_the_centre_of_mass_turns_the_joint_until_it_ends(arms, loads):
    loads.wrench("plate", [0.0, 2.0, 0.0], [0.0, 0.0, 0.0])
    run(arms, 10)
    speed = arms.velocity[LEVEL]
    assert speed == pytest.approx(2.0 * 0.2 / INERTIA * 0.01, rel=1e-3)
    loads.wrench("plate", [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    run(arms, 10)
    assert arms.velocity[LEVEL] == pytest.approx(speed, rel=1e-3)


def test_a_turning_hand_gives_its_torque(arms, loads):
    loads.wrench("plate", [0.0, 0.0, 0.0], [0.0, 0.0, -0.3])
    run(arms, 10)
    assert arms.velocity[LEVEL] == pytest.approx(-0.3 / INERTIA * 0.01, rel=1e-6)


@pytest.mark.parametrize("name", ["pendulum", "hand"])
def test_a_payload_weighs_and_resists_until_it_is_taken_away(arms, loads, name):
    arms.set_state(SWING, 0.0, 0.0)
    arms.torque[SWING] = -(1.0 + 1.5) * 9.81 * 0.2
    loads.payload(name, 0.7)
    loads.payload(name, 1.5)  # replaces the payload before
    run(arms, 50)
    assert arms.velocity[SWING] == pytest.approx(0.0, abs=1e-9)
    loads.payload(name, 0.0)
    run(arms, 1)
    assert arms.velocity[SWING] == pytest.approx(-1.5 * 9.81 * 0.2 / INERTIA * 0.001, rel=1e-6)


@pytest.mark.parametrize("payload", [0.0, 0.5])
def test_an_arm_lands_on_an_obstacle_and_falls_on_when_it_is_gone(arms, loads, payload):
    loads.payload("hand", payload)
    arms.set_state(SWING, 0.0, 0.0)
    loads.obstacle([0.2, 0.0, -0.15], [0.1, 0.1, 0.1])  # its top is 0.1 m below the axis
    run(arms, 1500)
    landed = arms.position[SWING]
    assert 0.2 < landed < 0.6
    assert arms.velocity[SWING] == pytest.approx(0.0, abs=1e-2)
    loads.no_obstacle()
    run(arms, 100)
    assert arms.position[SWING] > landed + 0.1


def test_an_obstacle_can_be_moved_and_made_larger(arms, loads):
    arms.set_state(SWING, 0.0, 0.0)
    loads.obstacle([0.2, 0.0, -0.15], [0.1, 0.1, 0.1])
    run(arms, 1500)
    low = arms.position[SWING]
    arms.set_state(SWING, 0.0, 0.0)
    loads.obstacle([0.2, 0.0, -0.15], [0.3, 0.3, 0.2])
    run(arms, 1500)
    assert arms.position[SWING] < low - 0.1


def test_arm_moves_freely_before_an_obstacle_is_placed(arms):
    arms.set_state(LEVEL, -1.0, 2.0)
    run(arms, 1000)
    assert arms.velocity[LEVEL] == pytest.approx(2.0)


REFUSALS = [
    (lambda loads: loads.wrench("base", [0, 0, 0], [0, 0, 0]), "no link 'base' moves, but plate"),
    (lambda loads: loads.payload("foot", 1.0), "no link 'foot' moves"),
    (lambda loads: loads.wrench("plate", [0, 0], [0, 0, 0]), "force is .* three numbers"),
    (lambda loads: loads.wrench("plate", [0, 0, 0], [0, 0, "x"]), "torque is .* three numbers"),
    (lambda loads: loads.payload("plate", -0.1), "expected 0 to 1000"),
    (lambda loads: loads.payload("plate", math.nan), "expected 0 to 1000"),
    (lambda loads: loads.obstacle([0, 0, 0], [1, 0, 1]), "size is .* more than 0"),
    (lambda loads: loads.obstacle([0, math.nan, 0], [1, 1, 1]), "position is"),
]


def test_a_load_that_cannot_be_is_refused_with_the_reason(loads):
    for ask, why in REFUSALS:
        with pytest.raises(ConfigError, match=why):
            ask(loads)


@given(st.floats(-50, 50), st.floats(-50, 50), st.floats(0, 5))
def test_loads_never_make_the_plant_diverge(prime_urdf, force, torque, mass):
    from test_support.twin.prime_actuators import ROTORS

    plant = MujocoPlant(prime_urdf, ROTORS)
    loads = Loads(plant.model, plant.data, prime_urdf)
    loads.payload("left_wrist_yaw_link", mass)
    loads.wrench("left_wrist_yaw_link", [force] * 3, [torque / 10] * 3)
    run(plant, 100)
    assert abs(plant.velocity).max() < 500
    assert plant.data.warning.number.sum() == 0
