"""Actions: the commands of each kind, for one robot and for a batch."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from humanoid_policy.action import ActionLaw
from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy.observation.inputs import Reference

DEFAULT = np.array([0.1, -0.5, 0.0])
BEFORE = np.array([0.3, 0.4, 0.5])
REFERENCE = Reference(np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]), np.array([0.5]))
ACTION = np.array([2.0, -4.0])  # of wrist and shoulder, scale 0.5


@pytest.mark.parametrize(
    ("kind", "reference", "position", "velocity", "effort"),
    [
        ("targets", None, [-1.9, -0.5, 1.0], [0, 0, 0], [0, 0, 0]),
        ("targets", REFERENCE, [-1.9, 2.0, 1.0], [0, 0.2, 0], [0, 0, 0]),
        ("deltas", None, [-1.7, -0.5, 1.5], [0, 0, 0], [0, 0, 0]),
        ("residuals", REFERENCE, [-1.0, 2.0, 4.0], [0.1, 0.2, 0.3], [0, 0, 0]),
        ("torques", None, [0.1, -0.5, 0.0], [0, 0, 0], [-2.0, 0, 1.0]),
        ("torques", REFERENCE, [0.1, 2.0, 0.0], [0, 0.2, 0], [-2.0, 0, 1.0]),
    ],
)
def test_each_kind_of_action_gives_its_target(
    metadata: Callable[..., PolicyMetadata],
    kind: str,
    reference: Reference | None,
    position: list[float],
    velocity: list[float],
    effort: list[float],
) -> None:
    law = ActionLaw(metadata(action_kind=kind))
    target = law.target(law.held(ACTION, BEFORE), reference)
    assert target.position == pytest.approx(np.array(position))
    assert target.velocity == pytest.approx(np.array(velocity))
    assert target.effort == pytest.approx(np.array(effort))


@pytest.mark.parametrize("kind", ["targets", "deltas", "residuals", "torques"])
def test_actions_of_a_batch_equal_those_of_single_robots(
    metadata: Callable[..., PolicyMetadata], kind: str
) -> None:
    law = ActionLaw(metadata(action_kind=kind, action_scale="0.5,0.25"))
    draw = np.random.default_rng(1)
    action, before = draw.normal(size=(7, 2)), draw.normal(size=(7, 3))
    reference = Reference(*(draw.normal(size=(7, count)) for count in (3, 3, 1)))
    batch = law.target(law.held(action, before), reference)
    for i in range(7):
        own = Reference(reference.position[i], reference.velocity[i], reference.phase[i])
        one = law.target(law.held(action[i], before[i]), own)
        for found, expected in zip(batch, one, strict=True):
            assert np.array_equal(found[i], expected)


def test_a_scale_of_each_joint(metadata: Callable[..., PolicyMetadata]) -> None:
    law = ActionLaw(metadata(action_scale="1.0,0.25"))
    assert law.target(law.held(ACTION, BEFORE), None).position == pytest.approx([-0.9, -0.5, 2.0])


def test_residuals_need_a_reference(metadata: Callable[..., PolicyMetadata]) -> None:
    law = ActionLaw(metadata(action_kind="residuals"))
    with pytest.raises(ValueError, match="residuals without a reference"):
        law.target(law.held(ACTION, BEFORE), None)
