"""Friction of joints against its closed form: torques that start and sustain a motion."""

import math
from collections.abc import Callable

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_twin.physics.friction import BreakawayCurve, JointFriction
from humanoid_twin.physics.loads import Loads
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.physics.springs import JointSpring

ROTOR = 0.01  # [kg m²]
INERTIA = 0.06  # [kg m²] of either arm with its rotor
WEIGHT = 1.0 * 9.81 * 0.2  # [Nm] of an arm that is level
SWING, LEVEL = 0, 1
FORWARD = [(-0.5, 0.2), (0.5, 0.4)]
BACKWARD = [(-0.5, -0.5), (0.0, -0.3), (0.5, -0.3)]


def friction(**options: float) -> JointFriction:
    return JointFriction(
        forward=BreakawayCurve(FORWARD, 1), backward=BreakawayCurve(BACKWARD, -1), **options
    )


@pytest.fixture
def build(two_arms_urdf: Callable[[], str]) -> Callable[..., MujocoPlant]:
    """Function that makes two arms, the level one, or `joint`, with friction."""

    def built(joint: str = "level", **options: float) -> MujocoPlant:
        rotors = {"swing": ROTOR, "level": ROTOR}
        return MujocoPlant(two_arms_urdf(), rotors, {joint: friction(**options)})

    return built


def run(plant: MujocoPlant, steps: int) -> None:
    for _ in range(steps):
        plant.step(0.001)


@pytest.mark.parametrize(
    ("position", "breakaway"),
    [
        (-0.9, 0.2), (-0.25, 0.25), (0.0, 0.3), (0.4, 0.38), (0.9, 0.4),
        (-0.9, -0.5), (-0.25, -0.4), (0.2, -0.3), (0.9, -0.3),
    ],
)  # fmt: skip
def test_a_joint_at_rest_breaks_away_at_the_torque_of_the_map(build, position, breakaway):
    """The limit is within 0.1 %; below it the joint does not move or creep."""
    plant = build()
    plant.set_state(LEVEL, position, 0.0)
    plant.torque[LEVEL] = 0.999 * breakaway
    run(plant, 1000)
    assert plant.position[LEVEL] == pytest.approx(position, abs=1e-9)
    plant.torque[LEVEL] = 1.001 * breakaway
    run(plant, 100)
    assert (plant.position[LEVEL] - position) * breakaway > 1e-6


@pytest.mark.parametrize(("position", "torque"), [(-0.5, 0.3), (-0.5, -0.3), (0.5, 0.35)])
def test_a_wrench_on_the_link_starts_a_motion_as_a_torque_on_the_joint_does(
    two_arms_urdf, build, position, torque
):
    pulled, pushed = build(), build()
    for plant in (pulled, pushed):
        plant.set_state(LEVEL, position, 0.0)
        plant.step(0.001)
    across = torque / 0.2  # [N], 0.2 m from the axis
    force = (-across * math.sin(position), across * math.cos(position), 0.0)
    Loads(pulled.model, pulled.data, two_arms_urdf()).wrench("plate", force)
    pushed.set_external_torque(LEVEL, torque)
    run(pulled, 20)
    run(pushed, 20)
    way = pushed.position[LEVEL] - position
    assert pulled.position[LEVEL] - position == pytest.approx(way, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("velocity", [0.02, 1.5, -0.02, -1.5])
@pytest.mark.parametrize("options", [
    {}, {"viscous": 0.1}, {"coulomb": 0.6, "stribeck_speed": 0.05, "viscous": 0.1},
])  # fmt: skip
def test_at_speed_the_torque_is_map_stribeck_and_viscous(build, velocity, options):
    """The torque of the sum keeps the velocity; any other torque changes it at once."""
    plant = build(**options)
    coulomb, viscous = options.get("coulomb", 1.0), options.get("viscous", 0.0)
    speed = options.get("stribeck_speed", 1.0)
    for position in (-0.4, 0.3):
        breakaway = 0.3 + 0.2 * position if velocity > 0 else 0.3 - 0.4 * min(position, 0.0)
        part = coulomb + (1 - coulomb) * math.exp(-abs(velocity) / speed)
        wanted = math.copysign(breakaway * part, velocity) + viscous * velocity
        plant.set_state(LEVEL, position, velocity)
        plant.torque[LEVEL] = wanted
        plant.step(0.001)
        acceleration = (plant.velocity[LEVEL] - velocity) / 0.001
        assert INERTIA * acceleration == pytest.approx(0.0, abs=0.001 * abs(wanted))


def test_a_joint_that_slides_comes_to_rest_where_friction_has_taken_its_energy(build):
    plant = build()
    plant.set_state(LEVEL, 0.5, 1.0)  # beyond 0.5 rad the map is constant
    run(plant, 1000)
    assert plant.velocity[LEVEL] == pytest.approx(0.0, abs=1e-9)
    assert plant.position[LEVEL] - 0.5 == pytest.approx(0.5 * INERTIA / 0.4, rel=0.01)


def test_friction_holds_a_limb_until_gravity_exceeds_it(build):
    plant = build("swing")
    held = math.acos(0.25 / WEIGHT)  # gravity pulls forward with 0.25 Nm there, friction has 0.4
    plant.set_state(SWING, held, 0.0)
    run(plant, 500)
    assert plant.position[SWING] == pytest.approx(held, abs=1e-7)
    more = math.acos(0.35 / WEIGHT)  # more than the backward friction
    plant.set_state(SWING, more, 0.0)
    run(plant, 500)
    assert plant.position[SWING] == pytest.approx(more, abs=1e-7)
    plant.set_state(SWING, held - 0.1, 0.0)  # 0.44 Nm
    run(plant, 500)
    assert plant.position[SWING] > held - 0.09


def test_friction_holds_against_a_spring(two_arms_urdf):
    spring = JointSpring(stiffness=1.0, rest=1.0)
    rotors = {"swing": ROTOR, "level": ROTOR}
    plant = MujocoPlant(two_arms_urdf(), rotors, {"level": friction()}, {"level": spring})
    plant.set_state(LEVEL, 0.65, 0.0)  # 0.35 Nm forward, of 0.4; backward friction has 0.3
    run(plant, 500)
    assert plant.position[LEVEL] == pytest.approx(0.65, abs=1e-7)


def test_joints_without_friction_stay_without(build):
    plant = build("swing")
    plant.torque[LEVEL] = 0.06
    run(plant, 100)
    assert plant.velocity[LEVEL] == pytest.approx(0.1, rel=1e-6)


@pytest.mark.parametrize(
    ("points", "direction", "message"),
    [
        ([(0.0, 1.0)], 1, "1 points, expected 2 or more"),
        ([(0.0, 1.0), (0.0, 1.0)], 1, "point 1: position 0 rad, expected more than 0 rad"),
        ([(0.0, 1.0), (1.0, -1.0)], 1, "point 1: torque -1 Nm, expected 0 or more"),
        ([(0.0, 1.0), (1.0, -1.0)], -1, "point 0: torque 1 Nm, expected 0 or less"),
        ([(0.0, 1.0), (1.0, math.nan)], 1, "point 1: 1 rad, nan Nm, expected finite"),
    ],
)  # fmt: skip
def test_points_that_cannot_be_are_refused(points, direction, message):
    with pytest.raises(ConfigError, match=message):
        BreakawayCurve(points, direction)
