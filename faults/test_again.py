"""Which trials count, and which are done again: with results, no robot."""

from __future__ import annotations

import time
from collections import deque
from typing import Any

import pytest

from faults.archive import Claim
from faults.campaign import ATTEMPTS, Campaign, Due, Entry, Open
from faults.judge import Verdict
from faults.kept import Expected
from faults.kind import Kind, nothing
from faults.trial import Result

WELL = Verdict(0.1, 0.1, 0.1, 0.0, 0.1, ())


def trial(*, lost: bool, held_up: float, spoilt: int = 0, starves: bool = False) -> Open:
    """A trial without a violation but for its file."""
    kind = Kind(name="any", inject=nothing, starves=starves)
    now = time.monotonic()
    result = Result(7, kind.name, "STANDBY", "elbow", WELL, (), now, now, None, held_up)
    claim = Claim(Expected(0.0, 0.0, "", killed=False), now)
    claim.wrong += ["no file tells of it"] if lost else []
    return Open(Due(kind, 7, spoilt), Entry(result, spoilt, held_up), claim)


def told(it: Open) -> tuple[list[Entry], list[Any]]:
    """What counts of it, and what is to be done again."""
    waiting: deque[Due] = deque()
    return list(Campaign(lambda _text: None).counted_of(it, waiting)), list(waiting)


def test_a_file_that_the_host_may_have_spoilt_is_no_violation_but_done_again() -> None:
    it = trial(lost=True, held_up=0.2)
    assert told(it) == ([], [Due(it.due.kind, 7, spoilt=1)])


@pytest.mark.parametrize(
    "it",
    [
        trial(lost=True, held_up=0.0),
        trial(lost=True, held_up=0.2, starves=True),
        trial(lost=True, held_up=0.2, spoilt=ATTEMPTS - 1),
    ],
    ids=["nobody held it up", "the fault itself holds it up", "once too often"],
)
def test_else_a_missing_file_counts(it: Open) -> None:
    entries, again = told(it)
    assert [entry.news for entry in entries] == [("no file tells of it",)]
    assert again == []


@pytest.mark.parametrize("held_up", [0.0, 0.2])
def test_a_trial_without_a_violation_counts(held_up: float) -> None:
    entries, again = told(trial(lost=False, held_up=held_up))
    assert [entry.news for entry in entries] == [()]
    assert again == []
