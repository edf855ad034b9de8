import math

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from humanoid_control_common.errors import ConfigError
from humanoid_twin.physics.plant import Inertia, SingleInertias


def run(plant: SingleInertias, seconds: float) -> None:
    for _ in range(round(seconds * 1000)):
        plant.step(0.001)


def test_constant_torque_gives_the_speed_of_newton():
    plant = SingleInertias([Inertia(inertia=0.2), Inertia(inertia=0.4)])
    plant.torque[0] = 1.0
    plant.set_external_torque(1, 1.0)
    run(plant, 0.5)
    np.testing.assert_allclose(plant.velocity, [2.5, 1.25])


def test_small_swing_has_the_period_of_the_pendulum():
    plant = SingleInertias([Inertia(inertia=0.3, gravity=6.0, rest=0.4)], [0.45])
    run(plant, 2 * math.pi / math.sqrt(20.0))
    assert plant.position[0] == pytest.approx(0.45, abs=1e-3)
    assert plant.velocity[0] == pytest.approx(0.0, abs=5e-3)


def test_coulomb_friction_holds_torques_up_to_its_limit():
    plant = SingleInertias([Inertia(inertia=0.1, coulomb=0.5)] * 2)
    plant.set_external_torque(0, 0.49)
    plant.set_external_torque(1, 0.6)
    run(plant, 1.0)
    np.testing.assert_allclose(plant.velocity, [0.0, 1.0], rtol=1e-6)


def test_viscous_friction_bounds_the_speed():
    plant = SingleInertias([Inertia(inertia=0.1, viscous=0.5)])
    plant.set_external_torque(0, 1.0)
    run(plant, 4.0)
    assert plant.velocity[0] == pytest.approx(2.0, rel=1e-6)


def test_brake_holds_and_releases():
    plant = SingleInertias([Inertia(inertia=0.1)])
    plant.set_external_torque(0, 1.0)
    plant.set_brake(0, engaged=True)
    run(plant, 0.1)
    assert plant.position[0] == 0.0
    plant.set_brake(0, engaged=False)
    run(plant, 0.1)
    assert plant.velocity[0] == pytest.approx(1.0)


@settings(deadline=None, max_examples=30)
@given(
    position=st.floats(-3, 3), velocity=st.floats(-5, 5), coulomb=st.floats(0, 1),
    viscous=st.floats(0, 5),
)  # fmt: skip
def test_friction_takes_energy_and_never_gives_any(position, velocity, coulomb, viscous):
    plant = SingleInertias([Inertia(inertia=0.1, coulomb=coulomb, viscous=viscous)], [position])
    plant.set_state(0, position, velocity)
    for _ in range(100):
        before = abs(plant.velocity[0])  # without gravity all energy is kinetic
        plant.step(0.001)
        assert abs(plant.velocity[0]) <= before


@pytest.mark.parametrize("wrong", [{"inertia": 0.0}, {"inertia": 1.0, "viscous": -1.0}], ids=str)
def test_invalid_joint_is_refused(wrong):
    with pytest.raises(ConfigError, match="expected"):
        Inertia(**wrong)
