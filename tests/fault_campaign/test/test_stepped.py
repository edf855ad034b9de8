"""The campaign: random faults violate nothing, and sabotaged stacks are convicted."""

from __future__ import annotations

import pytest
from fault_campaign.campaign import drawn
from fault_campaign.controls import controls_of, convictions, text_of
from fault_campaign.kinds.catalogue import KINDS, kinds_of
from fault_campaign.report import line
from fault_campaign.robot_joints import RobotJoints
from fault_campaign.stepped.campaign import campaign

SEED = 1
SHORT = {"prime": len(KINDS), "lite": 50}  # trials of the short form; all kinds on Prime
MANY = 3000


def violated(robot: str, count: int) -> list[str]:
    """Return the trials with a violation among `count` random ones."""
    kinds = list(kinds_of(RobotJoints.of_robot(robot)).values())
    return [line(entry) for entry in campaign(drawn(kinds, count, SEED)) if entry.news]


@pytest.mark.parametrize("robot", SHORT)
def test_random_faults_violate_nothing(robot: str) -> None:
    assert violated(robot, SHORT[robot]) == []


@pytest.mark.soak
@pytest.mark.parametrize("robot", SHORT)
def test_thousands_of_random_faults_violate_nothing(robot: str) -> None:
    assert violated(robot, MANY) == []


@pytest.mark.parametrize("robot", SHORT)
def test_every_sabotaged_stack_is_convicted(robot: str) -> None:
    found = list(convictions(controls_of(RobotJoints.of_robot(robot))))
    assert [text_of(it) for it in found if not it.convicted] == []


def test_a_trial_is_the_same_at_any_time_and_in_any_worker() -> None:
    trials = drawn([KINDS["ring: frames lost, 1 to 50 %"]], 4, SEED)
    assert list(campaign(trials, workers=1)) == list(campaign(trials[::-1], workers=2))[::-1]


def test_a_campaign_can_be_repeated_by_its_seed_and_leaves_no_kind_out() -> None:
    kinds = list(KINDS.values())
    first, again = drawn(kinds, 300, 7), drawn(kinds, 300, 7)
    assert [(kind.name, seed) for kind, seed in first] == [(k.name, seed) for k, seed in again]
    assert {kind.name for kind, _ in first} == set(KINDS)
    assert [seed for _, seed in drawn(kinds, 300, 8)] != [seed for _, seed in first]


def test_every_kind_strikes_a_joint_and_a_wider_bound_has_a_reason() -> None:
    assert all(kind.joints and kind.starts for kind in KINDS.values())
    assert all(it.upto > 0.0 and it.why for kind in KINDS.values() for it in kind.allowed)
