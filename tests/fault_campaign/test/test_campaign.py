"""The campaign in wall time: the short form with kinds that need the machine, and the long form."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from random import SystemRandom

import pytest
from fault_campaign.campaign import Campaign, drawn
from fault_campaign.controls import Control, controls_of, convictions, text_of
from fault_campaign.kinds.catalogue import KINDS
from fault_campaign.kinds.kind import Kind
from fault_campaign.report import line
from fault_campaign.robot_joints import PRIME
from fault_campaign.tally import Tally

from humanoid_twin.errors import VethError

SEED = 6  # of the short form: the same in every run
QUICK = [kind for kind in KINDS.values() if kind.quick]


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


def failures(kinds: Sequence[Kind], count: int, seed: int) -> list[str]:
    """Return the results of a campaign; every trial is reported."""
    entries = []
    campaign = Campaign(say)
    try:
        for entry in campaign.run(drawn(kinds, count, seed)):
            say(line(entry))
            entries.append(entry)
    except VethError as error:
        pytest.skip(f"no pair of virtual network interfaces can be made: {error}")
    tally = Tally.of(entries, campaign.problems)
    found = [f"{entry.result.kind}, seed {entry.result.seed}: {it}"
             for entry in entries for it in entry.news]  # fmt: skip
    return found + (tally.lines() if tally.failed else [])


def not_convicted(controls: Sequence[Control]) -> list[str]:
    """Return the controls whose defect the campaign did not find."""
    found = list(convictions(controls, say))
    for conviction in found:
        say(text_of(conviction))
    return [it.control.sabotage.defect for it in found if not it.convicted]


def test_any_fault_ends_with_a_soft_robot_and_a_reason() -> None:
    assert failures(QUICK, len(QUICK), SEED) == []


@pytest.mark.soak
def test_every_sabotaged_stack_is_convicted() -> None:
    assert not_convicted(controls_of(PRIME)) == []


@pytest.mark.soak
def test_a_thousand_random_faults_violate_nothing() -> None:
    seed = SystemRandom().randrange(1 << 31)  # a new seed each time: a used one gives no new result
    say(f"--seed {seed}")
    assert failures(list(KINDS.values()), 1000, seed) == []
