"""Trials that count, and trials that are repeated: with results, without a robot."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import replace
from typing import Any

import pytest
from fault_campaign.campaign import ATTEMPTS, Campaign, Entry, ExcusedAttempt, Open, PlannedTrial
from fault_campaign.judging.archive import Claim
from fault_campaign.judging.black_box_check import Expected
from fault_campaign.judging.judge import Verdict
from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.kinds.kind import Kind, nothing
from fault_campaign.tally import Tally, at_most
from fault_campaign.trial import Result

WELL = Verdict(0.1, 0.1, 0.1, 0.0, 0.1, ())
LATE = Violation(ViolationType.SOFT_TOO_LATE, "after 1 s")
LOST = Violation(ViolationType.LOST, "no file tells of it")
EXCUSE = ExcusedAttempt(0.2, (LATE,))


def entry(*wrong: Violation, kind: str = "any", held_up: float = 0.0, excused: int = 0) -> Entry:
    result = Result(7, kind, "", "STANDBY", "elbow", WELL, wrong, 0.0, 1.0, None, held_up)
    return Entry(result, (EXCUSE,) * excused, held_up)


def trial(it: Entry, *, lost: bool = False, starves: bool = False) -> Open:
    kind = Kind(name="any", inject=nothing, starves=starves)
    claim = Claim(Expected(0.0, 0.0, (), killed=False), time.monotonic())
    claim.wrong += ["no file tells of it"] if lost else []
    return Open(PlannedTrial(kind, 7, it.excused), it, claim)


def outcome(it: Open) -> tuple[list[Entry], list[Any]]:
    """Return the entries that count and the trials to repeat."""
    waiting: deque[PlannedTrial] = deque()
    return list(Campaign(lambda _text: None).counted_of(it, waiting)), list(waiting)


def test_a_violation_while_the_host_held_the_machine_up_is_kept_and_done_again() -> None:
    it = trial(entry(LATE, held_up=0.2))
    assert outcome(it) == ([], [PlannedTrial(it.due.kind, 7, excused=(EXCUSE,))])
    twice = trial(entry(LATE, held_up=0.2, excused=1))
    assert outcome(twice)[1] == [PlannedTrial(twice.due.kind, 7, excused=(EXCUSE, EXCUSE))]


def test_a_missing_file_is_excused_if_the_host_held_the_machine_up() -> None:
    it = trial(entry(held_up=0.2), lost=True)
    assert outcome(it) == (
        [],
        [PlannedTrial(it.due.kind, 7, excused=(ExcusedAttempt(0.2, (LOST,)),))],
    )


@pytest.mark.parametrize(
    "it",
    [
        trial(entry(), lost=True),
        trial(entry(held_up=0.2), lost=True, starves=True),
        trial(entry(held_up=0.2, excused=3), lost=True),
    ],
    ids=["nothing held it up", "the fault itself holds it up", "the fourth attempt"],
)
def test_a_missing_file_counts_without_a_hold_up_of_the_host(it: Open) -> None:
    entries, again = outcome(it)
    assert [entry.news for entry in entries] == [(LOST,)]
    assert again == []


@pytest.mark.parametrize(
    "violation_type",
    [
        ViolationType.NO_DATA, ViolationType.REFUTED, ViolationType.UP_AGAIN,
        ViolationType.REFUSED, ViolationType.NOT_WELL, ViolationType.DIED,
        ViolationType.TRACEBACK, ViolationType.DID_NOT_END,
    ],
)  # fmt: skip
def test_violation_that_no_hold_up_explains_counts_at_once(violation_type: ViolationType) -> None:
    entries, again = outcome(trial(entry(LATE, Violation(violation_type, "so"), held_up=0.2)))
    assert (len(entries), again) == (1, [])


def test_trial_of_a_kind_that_starves_the_machine_is_repeated_without_its_fault() -> None:
    it = entry(Violation(ViolationType.NOT_REACHED, "so"), held_up=0.2)
    it = replace(it, result=replace(it.result, verdict=None))
    assert outcome(trial(it, starves=True))[0] == []


@pytest.mark.parametrize("held_up", [0.0, 0.2])
def test_a_trial_without_a_violation_counts(held_up: float) -> None:
    entries, again = outcome(trial(entry(held_up=held_up)))
    assert [entry.news for entry in entries] == [()]
    assert again == []


# The sum of a campaign.


def test_single_violation_or_lost_fault_file_fails_a_campaign() -> None:
    assert not Tally.of([entry(), entry()]).failed
    tally = Tally.of([entry(), entry(LATE)])
    assert (tally.trials, tally.violated, tally.failed) == (2, 1, True)
    lost = replace(entry(), lost=(LOST,))
    assert Tally.of([entry(), lost]).failed


def test_a_campaign_without_trials_shows_nothing() -> None:
    assert Tally.of([]).failed


def test_a_robot_that_ends_wrongly_fails_a_campaign() -> None:
    assert Tally.of([entry()], [Violation(ViolationType.DID_NOT_END, "control")]).failed


def test_known_violation_fails_no_campaign() -> None:
    it = entry()
    verdict = replace(WELL, known=(Violation(ViolationType.SPEED, "wrist"),))
    assert not Tally.of([replace(it, result=replace(it.result, verdict=verdict))]).failed


@pytest.mark.parametrize(
    ("trials", "excuses", "failed"), [(1, 2, False), (1, 3, True), (10, 2, False), (10, 3, True),
                                      (20, 4, False), (20, 5, True)],
)  # fmt: skip
def test_a_kind_may_be_excused_twice_or_for_a_fifth_of_its_trials(
    trials: int, excuses: int, failed: bool
) -> None:
    entries = [entry(kind="other") for _ in range(50)]
    entries += [entry(kind="this") for _ in range(trials - 1)]
    entries.append(entry(kind="this", excused=excuses))
    tally = Tally.of(entries)
    assert (tally.excused, tally.failed) == ({"this": excuses}, failed)
    assert tally.excused_too_often == (("this",) if failed else ())


def test_tally_reports_the_share_of_clean_trials_with_a_hold_up() -> None:
    entries = [entry(), entry(), entry(held_up=0.1), entry(LATE, held_up=0.1)]
    tally = Tally.of(entries)
    assert (tally.clean, tally.clean_held_up) == (3, 1)
    assert "P(hold-up | no violation) = 1/3 = 33.3%" in "".join(tally.lines())


def test_bound_without_violations_depends_on_the_number_of_trials() -> None:
    """0.05 ** (1 / n): the rule of three."""
    assert at_most(1000) == pytest.approx(0.00299, abs=1e-5)
    assert at_most(9) == pytest.approx(0.283, abs=1e-3)
    entries = [entry(kind="often") for _ in range(991)] + [entry(kind="rare") for _ in range(9)]
    text = Tally.of(entries).lines()[-1]
    assert "less than 0.30% of this mixture" in text
    assert "9 trials, less than 28%" in text
    assert "less than" not in "".join(Tally.of([entry(LATE)]).lines())


def test_four_attempts_are_the_most() -> None:
    assert ATTEMPTS == 4
