"""A payload is found from the torques at two poses."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_motion.dynamics.payload import Payload
from humanoid_motion.dynamics.payload_identification import RestingPose, identify
from src.humanoid_motion.test.dynamics.conftest import JOINTS

LEVEL, BENT = np.array([1.5, 0.0]), np.array([0.3, -1.2])


@pytest.fixture(scope="module", name="model")
def arm_model(arm: str) -> GravityModel:
    return GravityModel(arm, JOINTS)


def resting(model: GravityModel, payload: Payload, noise: float = 0.0) -> list[RestingPose]:
    random = np.random.default_rng(0)
    return [
        RestingPose(pose, model.torque(pose, [payload]) + random.normal(0.0, noise, 2))
        for pose in (LEVEL, BENT)
    ]


@pytest.mark.parametrize(("mass", "away"), [(1.0, 0.0), (0.3, 0.25), (4.0, -0.1)])
def test_exact_torques_give_the_exact_payload(model, mass, away) -> None:
    carried = Payload("lower", mass, (0.0, 0.0, -away))
    found = identify(model, "lower", resting(model, carried))
    assert found.payload.mass == pytest.approx(mass)
    assert found.payload.centre_of_mass == pytest.approx(carried.centre_of_mass)
    assert found.residual == pytest.approx(0.0, abs=1e-9)
    assert found.without > 0.4


def test_the_residual_is_what_the_payload_does_not_explain(model) -> None:
    found = identify(model, "lower", resting(model, Payload("lower", 1.0), noise=0.1))
    assert found.payload.mass == pytest.approx(1.0, abs=0.1)
    assert 0.0 < found.residual < 0.2


def test_an_empty_hand_has_no_payload(model) -> None:
    poses = resting(model, Payload("lower", 0.0))
    lighter = [RestingPose(pose.position, 0.99 * pose.torque) for pose in poses]
    for resting_poses in (poses, lighter):
        found = identify(model, "lower", resting_poses)
        assert found.payload.mass == pytest.approx(0.0, abs=1e-6)
        assert np.isfinite(found.payload.centre_of_mass).all()


def test_poses_without_information_are_refused(model) -> None:
    hanging = RestingPose(np.zeros(2), np.zeros(2))
    with pytest.raises(ConfigError, match="cannot be distinguished"):
        identify(model, "lower", [hanging, hanging])
    with pytest.raises(ConfigError, match="1 poses, expected 2"):
        identify(model, "lower", [hanging])


def test_the_payload_of_an_unknown_link_is_refused(model) -> None:
    poses = resting(model, Payload("lower", 1.0))
    with pytest.raises(ConfigError, match="payload: no link 'foot' moves; known: "):
        identify(model, "foot", poses)


def test_a_torque_that_is_not_finite_is_refused(model) -> None:
    poses = resting(model, Payload("lower", 1.0))
    broken = poses[1]._replace(torque=np.array([np.nan, 0.0]))
    with pytest.raises(ConfigError, match="not finite"):
        identify(model, "lower", [poses[0], broken])
