"""Observations: the values of each term, in order, scaled, for one robot and for a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy.observation.inputs import ObservationInputs, Reference
from humanoid_policy.observation.observation import Observation
from humanoid_policy.observation.terms import TERMS, Source, projected_gravity

ALL = ",".join(TERMS)


def inputs_of(batch: tuple[int, ...], seed: int = 0) -> ObservationInputs:
    draw = np.random.default_rng(seed)

    def values(count: int) -> np.ndarray:
        return draw.normal(size=(*batch, count))

    return ObservationInputs(
        values(3), values(3), values(3), values(2),
        Reference(values(3), values(3), values(1)),
        values(3), values(3), values(3),
    )  # fmt: skip


def test_the_terms_come_in_the_order_of_the_metadata_and_scaled(
    metadata: Callable[..., PolicyMetadata],
) -> None:
    observation = Observation(metadata())
    inputs = ObservationInputs(
        position=np.array([0.2, -0.5, 0.3]),
        velocity=np.array([1.0, 2.0, 3.0]),
        effort=np.zeros(3),
        action=np.array([0.7, -0.7]),
    )
    expected = [0.1, 0.0, 0.3, 0.1, 0.2, 0.3, 0.7, -0.7]
    found = observation.compute(inputs)
    assert found.dtype == np.float32
    assert found == pytest.approx(expected)
    assert observation.size == len(expected)
    assert observation.slices["actions"] == slice(6, 8)
    assert observation.sources == {Source.JOINTS}


def test_every_term_has_its_value(metadata: Callable[..., PolicyMetadata]) -> None:
    observation = Observation(metadata(observation_names=ALL, observation_scales=""))
    it = inputs_of(())
    default = np.array([0.1, -0.5, 0.0])
    reference = it.reference
    assert reference is not None
    expected = {
        "joint_pos": it.position - default,
        "joint_vel": it.velocity,
        "joint_effort": it.effort,
        "actions": it.action,
        "reference_joint_pos": reference.position - default,
        "reference_joint_vel": reference.velocity,
        "joint_pos_error": reference.position - it.position,
        "phase": reference.phase,
        "base_ang_vel": it.angular_velocity,
        "projected_gravity": it.gravity,
        "velocity_commands": it.velocity_command,
    }
    found = observation.compute(it)
    assert expected.keys() == observation.slices.keys()
    for name, place in observation.slices.items():
        assert found[place] == pytest.approx(expected[name])
    assert observation.sources == set(Source)


def test_observations_of_a_batch_equal_those_of_single_robots(
    metadata: Callable[..., PolicyMetadata],
) -> None:
    scales = ",".join(str(0.5 + i) for i in range(len(TERMS)))
    observation = Observation(metadata(observation_names=ALL, observation_scales=scales))
    batch = inputs_of((4, 5))
    found = observation.compute(batch)
    assert found.shape == (4, 5, observation.size)
    for i, j in np.ndindex(4, 5):
        reference = batch.reference
        assert reference is not None
        rows = (getattr(batch, key) for key in ("position", "velocity", "effort", "action"))
        live = (batch.angular_velocity, batch.gravity, batch.velocity_command)
        one = ObservationInputs(
            *(row[i, j] for row in rows),
            Reference(*(row[i, j] for row in (
                reference.position, reference.velocity, reference.phase
            ))),
            *(row[i, j] for row in live if row is not None),
        )  # fmt: skip
        assert np.array_equal(observation.compute(one), found[i, j])


@pytest.mark.parametrize(
    ("term", "words"),
    [("phase", "a motion"), ("base_ang_vel", "an IMU"), ("velocity_commands", "velocity commands")],
)
def test_inputs_without_those_of_a_term_are_refused(
    metadata: Callable[..., PolicyMetadata], term: str, words: str
) -> None:
    observation = Observation(metadata(observation_names=term, observation_scales=""))
    zeros = np.zeros(3)
    with pytest.raises(ValueError, match=words):
        observation.compute(ObservationInputs(zeros, zeros, zeros, np.zeros(2)))


def test_gravity_points_down_in_the_frame_of_the_base() -> None:
    half = np.sqrt(0.5)
    orientations = np.array(
        [
            [0.0, 0.0, 0.0, 1.0],  # upright
            [half, 0.0, 0.0, half],  # rolled to the right by 90°: its left side points up
            [0.0, half, 0.0, half],  # pitched: its nose points down
            [0.0, 0.0, half, half],  # turned: as upright
        ]
    )
    expected = [[0, 0, -1], [0, -1, 0], [1, 0, 0], [0, 0, -1]]
    assert projected_gravity(orientations) == pytest.approx(np.array(expected, dtype=float))
