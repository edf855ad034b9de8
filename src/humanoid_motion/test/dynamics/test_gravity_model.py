"""Gravity and payloads load the joints of a pendulum as in the closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_motion.dynamics.payload import Payload, replaced
from src.humanoid_motion.test.dynamics.conftest import JOINTS, LOWER, MASSES, UPPER

G = 9.81  # [m/s²]
angles = st.floats(-3.0, 3.0)


@pytest.fixture(scope="module", name="model")
def arm_model(arm: str) -> GravityModel:
    return GravityModel(arm, JOINTS)


def closed_form(shoulder: float, elbow: float, load: float = 0.0, at: float = 0.0) -> np.ndarray:
    """Return torques [Nm] that hold both links and `load` [kg] on the lower one, `at` [m] below."""
    # About +y a hanging link turns towards -x; its weight turns it back.
    lower = (MASSES[1] * LOWER / 2 + load * at) * math.sin(shoulder + elbow)
    carried = (MASSES[0] / 2 + MASSES[1] + load) * UPPER * math.sin(shoulder)
    return G * np.array([lower + carried, lower])


@given(angles, angles)
@settings(deadline=None)
def test_gravity_is_that_of_the_closed_form(model, shoulder, elbow) -> None:
    found = model.torque(np.array([shoulder, elbow]))
    assert found == pytest.approx(closed_form(shoulder, elbow), abs=1e-9)


@given(angles, angles, st.floats(0.0, 5.0), st.floats(-0.5, 0.5))
@settings(deadline=None)
def test_a_payload_adds_its_own_weight(model, shoulder, elbow, load, at) -> None:
    payload = Payload("lower", load, (0.0, 0.0, -at))
    found = model.torque(np.array([shoulder, elbow]), [payload])
    assert found == pytest.approx(closed_form(shoulder, elbow, load, at), abs=1e-9)


@pytest.mark.parametrize(
    ("option", "part"),
    [
        ('<option gravity="0 0 9.81"/>', -1.0),  # upside down
        ('<option><flag gravity="disable"/></option>', 0.0),
    ],
)
def test_gravity_is_that_of_the_simulation_for_links_and_payloads(
    arm: str, option: str, part: float
) -> None:
    model = GravityModel(arm.replace("</robot>", f"<mujoco>{option}</mujoco></robot>"), JOINTS)
    payload = Payload("lower", 2.0, (0.0, 0.0, -0.1))
    found = model.torque(np.array([0.5, 0.8]), [payload])
    assert found == pytest.approx(part * closed_form(0.5, 0.8, 2.0, 0.1), abs=1e-9)


def test_joints_are_taken_in_their_order(arm, model) -> None:
    swapped = GravityModel(arm, JOINTS[::-1])
    position = np.array([0.4, 0.9])
    assert swapped.torque(position[::-1]) == pytest.approx(model.torque(position)[::-1])


def test_payload_is_accepted_on_moving_links_only(model) -> None:
    assert model.links == ("upper", "lower")
    with pytest.raises(ConfigError, match="no link 'base' moves; known: upper, lower"):
        model.checked(Payload("base", 1.0), 5.0)
    with pytest.raises(ConfigError, match="6 kg, expected at most 5"):
        model.checked(Payload("lower", 6.0), 5.0)


@pytest.mark.parametrize("mass", [-0.1, math.nan, math.inf])
def test_a_mass_that_is_none_is_refused(mass: float) -> None:
    with pytest.raises(ConfigError, match="expected 0 or more"):
        Payload("lower", mass)


@pytest.mark.parametrize("place", [(0.0, 0.0), (0.0, 0.0, math.nan), (0.0, 0.0, 1.5)])
def test_a_centre_of_mass_that_is_none_is_refused(place) -> None:
    with pytest.raises(ConfigError, match="expected three numbers from -1 to 1"):
        Payload("lower", 1.0, place)


def test_a_link_has_one_payload_and_none_of_mass_0() -> None:
    one, other = Payload("upper", 1.0), Payload("lower", 2.0)
    assert replaced([one, other], Payload("upper", 3.0)) == (other, Payload("upper", 3.0))
    assert replaced([one, other], Payload("upper", 0.0)) == (other,)


def test_the_torque_of_a_joint_depends_on_the_angles_of_its_chain(arm: str) -> None:
    """A second elbow, beside the first: each needs the shoulder, but not the other one."""
    again = arm[arm.index('<link name="lower">') : arm.index("</robot>")]
    only = again[: again.index("<joint")] + again[again.index('<joint name="elbow"') :]
    branched = arm.replace(
        "</robot>", only.replace('"lower"', '"second"').replace('"elbow"', '"other"') + "</robot>"
    )
    model = GravityModel(branched, ("shoulder", "elbow", "other"))
    rows = np.eye(3, dtype=np.bool_)
    found = [model.in_chain_with(row).tolist() for row in rows]
    assert found == [[True, True, True], [True, True, False], [True, False, True]]
    assert model.joints_above("second").tolist() == [True, False, True]
