"""The catalogue of faults."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from faults.campaign import drawn
from faults.kind import Kind, Outcome
from faults.kinds.catalogue import KINDS
from faults.situation import Start, draw

PAGE = Path(__file__).parents[1] / "docs" / "fault_campaign.md"


def test_there_are_more_than_forty_kinds() -> None:
    assert len(KINDS) > 40


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_every_kind_says_what_must_be_heard_of_it(kind: Kind) -> None:
    assert kind.joints
    assert kind.starts
    if kind.outcome is Outcome.SOFT:
        re.compile(kind.said.format(joint="left_wrist_roll"))
        assert kind.said
    else:
        assert not kind.said


def test_the_page_names_every_kind() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert [name for name in KINDS if f"| {name} |" not in text] == []


def test_a_campaign_can_be_repeated_by_its_seed_and_leaves_no_kind_out() -> None:
    kinds = list(KINDS.values())
    first, again = drawn(kinds, 200, 7), drawn(kinds, 200, 7)
    assert [(kind.name, seed) for kind, seed in first] == [(k.name, seed) for k, seed in again]
    assert {kind.name for kind, _ in first} == set(KINDS)
    assert [seed for _, seed in drawn(kinds, 200, 8)] != [seed for _, seed in first]


def test_a_situation_comes_from_its_seed_alone() -> None:
    from random import Random

    assert draw(Random(5), list(Start)) == draw(Random(5), list(Start))
    assert draw(Random(5), [Start.REMOTE]).start is Start.REMOTE
