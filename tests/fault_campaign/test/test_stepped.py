"""The campaign on the stepped robot."""

from __future__ import annotations

from collections import Counter

import pytest
from fault_campaign.campaign import Entry, drawn
from fault_campaign.controls import CONTROLS, convictions, text_of
from fault_campaign.kinds.catalogue import KINDS, STEPPED
from fault_campaign.report import line
from fault_campaign.stepped.campaign import campaign

SEED, COUNT = 1, 130
MANY = 3000


def violated(entries: list[Entry]) -> list[str]:
    return [line(entry) for entry in entries if entry.news]


def test_every_kind_that_needs_no_kernel_is_on_the_stepped_robot() -> None:
    without = {name for name, kind in KINDS.items() if kind.kernel}
    assert set(STEPPED) >= {it for it in set(KINDS) - without if not it.startswith("two faults")}
    assert len(without) <= 12


def test_random_faults_of_every_kind_violate_nothing() -> None:
    trials = drawn(list(STEPPED.values()), max(COUNT, len(STEPPED)), SEED)
    entries = list(campaign(trials))
    assert violated(entries) == []
    assert len(Counter(entry.result.kind for entry in entries)) == len(STEPPED)


def test_a_trial_is_the_same_whenever_and_by_whichever_worker_it_is_run() -> None:
    trials = drawn([STEPPED["ring: frames lost, 1 to 50 %"]], 4, SEED)
    assert list(campaign(trials, workers=1)) == list(campaign(trials[::-1], workers=2))[::-1]


def test_every_sabotaged_stack_is_convicted() -> None:
    found = list(convictions(CONTROLS, lambda _text: None, stepped=True))
    assert [text_of(it) for it in found if not it.convicted] == []


@pytest.mark.soak
def test_thousands_of_random_faults_violate_nothing() -> None:
    assert violated(list(campaign(drawn(list(STEPPED.values()), MANY, SEED)))) == []
