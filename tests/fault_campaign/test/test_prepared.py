"""Trials that begin with a robot in their mode."""

from __future__ import annotations

from multiprocessing import Pipe
from pathlib import Path
from typing import Final

from fault_campaign.campaign import Entry
from fault_campaign.kinds.catalogue import STEPPED
from fault_campaign.kinds.combined.pairs import paired
from fault_campaign.report import line
from fault_campaign.robot import SLCAN
from fault_campaign.scenario import ALL, Start
from fault_campaign.simplification import AS_DRAWN, Simplification
from fault_campaign.stepped.campaign import Waiting, campaign
from fault_campaign.stepped.prepared import ADAPTERS, LONG_WAYS, ROBOTS, Prepared, adapter_of
from fault_campaign.stepped.traced import traced
from fault_campaign.trial import DrawnTrial

from humanoid_stepped.copies import in_copy

KIND: Final = STEPPED["operator: emergency stop in REMOTE, moving"]
ANYWHERE: Final = STEPPED["ring: drive error 0x8400"]
SERIAL: Final = STEPPED["can: serial line slow"]
SEEDS: Final = range(400)
PERIOD: Final = 0.02  # [s] of Prime's loop


def prepared(seed: int, simpler: Simplification = AS_DRAWN) -> Prepared | None:
    return Prepared.of(ANYWHERE, seed, simpler)


def test_every_robot_is_drawn_and_some_trials_go_the_whole_way() -> None:
    starts = {seed: DrawnTrial.of(ANYWHERE, seed).scenario.start for seed in SEEDS}
    found = {seed: prepared(seed) for seed in SEEDS}
    robots = {(it.start, it.number) for it in found.values() if it is not None}
    long = [start for start in LONG_WAYS if start in ALL]
    assert robots == {(start, number) for start in long for number in range(ROBOTS)}
    for start in ALL:
        whole = [found[seed] is None for seed in SEEDS if starts[seed] is start]
        assert any(whole)
        assert all(whole) == (start not in LONG_WAYS)


def test_the_seed_draws_the_adapter_unless_the_kind_needs_one() -> None:
    drawn = [adapter_of(ANYWHERE, seed, AS_DRAWN) for seed in SEEDS]
    assert {drawn.count(it) > len(SEEDS) / 3 for it in ADAPTERS} == {True}
    assert {adapter_of(SERIAL, seed, AS_DRAWN) for seed in SEEDS} == {SLCAN}
    joints = (SERIAL.joints[0], ANYWHERE.joints[0])
    for kind in (paired(SERIAL, ANYWHERE, joints, 0.0), paired(ANYWHERE, SERIAL, joints, 0.0)):
        assert {adapter_of(kind, seed, AS_DRAWN) for seed in SEEDS} == {SLCAN}


def test_a_trial_that_is_made_simpler_begins_with_the_robot_of_its_simpler_mode() -> None:
    for seed in SEEDS:
        found = prepared(seed, Simplification(start=Start.REMOTE))
        assert found is None or found.start is Start.REMOTE


def test_a_trial_is_the_same_in_a_campaign_and_alone_in_one_process(tmp_path: Path) -> None:
    seed = next(
        it
        for it in SEEDS
        if Prepared.of(KIND, it, AS_DRAWN)
        and DrawnTrial.of(KIND, it).scenario.payload
        and adapter_of(KIND, it, AS_DRAWN) == SLCAN
    )

    def alone() -> list[Entry]:
        return list(traced([(KIND, seed)], tmp_path / "files"))

    (entry,) = campaign([(KIND, seed)])
    assert [entry] == in_copy(alone)
    assert entry.result.adapter == adapter_of(KIND, seed, AS_DRAWN) == SLCAN
    assert SLCAN in line(entry)


def test_a_worker_takes_the_first_trial_whose_robot_no_other_one_prepares() -> None:
    one, other = Pipe()
    first, second = (("slcan", Prepared(Start.REMOTE, number)) for number in range(2))
    waiting = Waiting([first, first, None, second, first])
    assert [waiting.take(one), waiting.take(other), waiting.take(other)] == [0, 2, 3]
    assert waiting.take(other) == 1  # prepared twice: better than to do nothing
    assert [waiting.take(one), waiting.take(one)] == [4, None]


def test_faults_come_at_any_phase_of_the_loop() -> None:
    kind = STEPPED["operator: emergency stop in DAMPING"]
    entries = campaign([(kind, seed) for seed in range(16)])
    verdicts = [it.result.verdict for it in entries if it.result.verdict is not None]
    quarters = {int(it.counted_from % PERIOD / PERIOD * 4) for it in verdicts}
    assert quarters == {0, 1, 2, 3}
