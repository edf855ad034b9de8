"""The campaign on the stepped robot."""

from __future__ import annotations

import pytest
from fault_campaign.campaign import Entry, drawn
from fault_campaign.controls import controls_of, convictions, text_of
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.catalogue import KINDS, STEPPED, kinds_of
from fault_campaign.report import line
from fault_campaign.robot import MAIN, Sabotage
from fault_campaign.robot_joints import RobotJoints
from fault_campaign.scenario import Start
from fault_campaign.simplification import Simplification
from fault_campaign.stepped.campaign import campaign
from hypothesis import given
from hypothesis import strategies as st

SEED = 1
SHORT = {"prime": 183, "lite": 50}  # trials of the short form; all kinds on Prime
MANY = 3000


def violation_types(entry: Entry) -> set[ViolationType]:
    return {it.type for it in entry.news}


def violated(entries: list[Entry]) -> list[str]:
    return [line(entry) for entry in entries if entry.news]


def test_every_kind_that_needs_no_kernel_is_on_the_stepped_robot() -> None:
    without = {name for name, kind in KINDS.items() if kind.kernel}
    # gRPC has its own threads and sockets.
    without_sockets = {name for name in without if not name.startswith("joint stream: ")}
    assert set(STEPPED) >= {it for it in set(KINDS) - without if not it.startswith("two faults")}
    assert len(without_sockets) <= 12


@pytest.mark.parametrize("robot", SHORT)
def test_random_faults_violate_nothing(robot: str) -> None:
    kinds = list(kinds_of(RobotJoints.of_robot(robot), stepped=True).values())
    entries = list(campaign(drawn(kinds, SHORT[robot], SEED)))
    assert violated(entries) == []
    assert len({entry.result.kind for entry in entries}) >= SHORT[robot]


def test_a_trial_is_the_same_at_any_time_and_in_any_worker() -> None:
    trials = drawn([STEPPED["ring: frames lost, 1 to 50 %"]], 4, SEED)
    assert list(campaign(trials, workers=1)) == list(campaign(trials[::-1], workers=2))[::-1]


@pytest.mark.parametrize("robot", SHORT)
def test_every_sabotaged_stack_is_convicted(robot: str) -> None:
    controls = controls_of(RobotJoints.of_robot(robot))
    found = list(convictions(controls, lambda _text: None, stepped=True))
    assert [text_of(it) for it in found if not it.convicted] == []


@pytest.mark.soak
@pytest.mark.parametrize("robot", SHORT)
def test_thousands_of_random_faults_violate_nothing(robot: str) -> None:
    kinds = list(kinds_of(RobotJoints.of_robot(robot), stepped=True).values())
    assert violated(list(campaign(drawn(kinds, MANY, SEED)))) == []


def test_a_violation_is_shown_with_fewer_faults_and_less_load() -> None:
    """The changed stack is stiff after any fall: one fault in the simplest mode shows that."""
    kind = STEPPED["two faults: operator and any"]
    sabotage = Sabotage(MAIN, "never_soft")
    (found,) = [
        it
        for it in campaign(drawn([kind], 3, SEED), sabotage)
        if ViolationType.NEVER_SOFT in violation_types(it)
    ][:1]
    simplest = Simplification.parse(found.simplification)
    assert simplest.part is not None
    assert simplest.unloaded
    assert simplest.untouched
    again = list(campaign([(kind, found.result.seed)], sabotage, simpler=simplest))
    assert [it.result for it in again] == [found.result]


@given(
    st.builds(
        Simplification,
        part=st.sampled_from([None, 0, 1]),
        start=st.sampled_from([None, *Start]),
        unloaded=st.booleans(),
        untouched=st.booleans(),
        soon=st.booleans(),
    )
)
def test_a_simplification_is_read_as_it_was_written(simplification: Simplification) -> None:
    assert Simplification.parse(str(simplification)) == simplification


def test_an_unknown_word_of_a_simplification_is_named() -> None:
    with pytest.raises(ValueError, match=r"'slow' simplifies nothing; known: first, second"):
        Simplification.parse("first,slow")
