"""Two faults at once: their possible combinations, and the demands of both."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fault_campaign.judging.cause import Cause
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.catalogue import KINDS
from fault_campaign.kinds.combined.pairs import compatible, group, paired, pairs
from fault_campaign.kinds.kind import (
    JOINT,
    Allowed,
    Kind,
    Outcome,
    Recovery,
    RefutedError,
    Scene,
)
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import Start

from humanoid_control_common.rules.reasons import CodeTable

WRIST, ELBOW = "left_wrist_roll", "left_elbow_pitch"
PAIRS = [kind for kind in KINDS.values() if kind.drawn is not None]


_CODES = CodeTable("Test")
HOT, GONE = (_CODES.add(name, "meaning", "remedy") for name in ("HOT", "GONE"))


class Log(list[tuple[str, str]]):
    """Records each action and its joint."""

    def kind(self, name: str, **other: Any) -> Kind:
        return Kind(
            name=name,
            inject=lambda scene: self.append((f"inject {name}", scene.joint)),
            mend=lambda scene: self.append((f"mend {name}", scene.joint)),
            **other,
        )


def test_pair_injects_and_removes_both_faults_each_at_its_joint() -> None:
    log = Log()
    waited: list[float] = []
    robot = SimpleNamespace(pass_until=waited.append)
    both = paired(log.kind("a: x"), log.kind("b: y"), (WRIST, ELBOW), 0.1)
    scene = Scene(cast("Any", robot), Random(1), cast("Any", None), WRIST, None, began=5.0)
    both.inject(scene)
    both.mend(scene)
    assert log == [
        ("inject a: x", WRIST), ("inject b: y", ELBOW), ("mend a: x", WRIST), ("mend b: y", ELBOW),
    ]  # fmt: skip
    assert waited == [5.1]
    assert both.name == "a: x + b: y"


@pytest.mark.parametrize(
    ("first", "second", "both"),
    [
        (Outcome.SOFT, Outcome.STAYS, Outcome.SOFT),
        (Outcome.EITHER, Outcome.SOFT, Outcome.SOFT),
        (Outcome.STAYS, Outcome.EITHER, Outcome.EITHER),
        (Outcome.STAYS, Outcome.STAYS, Outcome.STAYS),
        (Outcome.STOPS, Outcome.STAYS, Outcome.STOPS),
        (Outcome.EITHER, Outcome.STOPS, Outcome.EITHER),
    ],
)
def test_pair_demands_a_fall_if_one_of_its_kinds_demands_it(
    first: Outcome, second: Outcome, both: Outcome
) -> None:
    log = Log()
    made = paired(log.kind("a", outcome=first), log.kind("b", outcome=second), (WRIST, ELBOW), 0.0)
    assert made.outcome is both


@pytest.mark.parametrize(
    ("strikes", "recovery", "unclean"),
    [
        (TargetJoint.CAN, Recovery.RESTART, True),
        (TargetJoint.GUARDED, Recovery.RESTART, True),
        (TargetJoint.RING, Recovery.RESTART, False),
        (TargetJoint.CAN, Recovery.CLEAR, False),
    ],
)
def test_a_restart_need_not_confirm_a_motor_whose_fault_is_not_cleared(
    strikes: TargetJoint, recovery: Recovery, unclean: bool
) -> None:
    log = Log()
    one, two = log.kind("a: x", recovery=recovery), log.kind("b: y", strikes=strikes)
    assert paired(one, two, (WRIST, ELBOW), 0.0).unclean is unclean


def test_the_weaker_bounds_hold() -> None:
    log = Log()
    wide, wider = Allowed(ViolationType.JUMP, 0.05, ""), Allowed(ViolationType.JUMP, 0.1, "")
    one = log.kind(
        "a", within=1.0, watched=0.4, allowed=(wider,), dies=("box",), codes=(HOT,), named=(JOINT,),
        starts=(Start.REMOTE, Start.DAMPING), spared=lambda _: [WRIST], raises="E",
        undamped=lambda scene: [scene.joint],
    )  # fmt: skip
    two = log.kind(
        "b", within=0.5, watched=2.0, allowed=(wide, Allowed(ViolationType.SPEED, 3.0, "")),
        follows=True, undamped=lambda scene: [scene.joint],
        codes=(GONE,), named=(JOINT,), source="CAN", recovery=Recovery.RESTART,
        starts=(Start.REMOTE, Start.ZERO_TORQUE),
    )  # fmt: skip
    both = paired(one, two, (WRIST, ELBOW), 0.1)
    assert (both.within, both.watched, both.healed) == (1.1, 2.1, 5.0)
    assert {it.type: it.upto for it in both.allowed} == {
        ViolationType.JUMP: 0.1,
        ViolationType.SPEED: 3.0,
    }
    assert (both.dies, both.raises, both.follows) == (["box"], "E", True)
    assert (both.starts, both.recovery) == ([Start.REMOTE], Recovery.RESTART)
    assert both.causes("") == [
        Cause(codes=("HOT",), named=(WRIST,)),
        Cause(codes=("GONE",), named=(ELBOW,), source="CAN"),
    ]
    scene = Scene(cast("Any", None), Random(1), cast("Any", None), WRIST, None)
    assert both.spared(scene) == [WRIST]
    assert both.undamped(scene) == [WRIST, ELBOW]


def test_the_second_fault_is_mended_also_where_the_mending_of_the_first_finds_something() -> None:
    def finds(_scene: Scene) -> None:
        raise RefutedError("found")

    log = Log()
    first = replace(log.kind("a"), mend=finds)
    scene = Scene(cast("Any", None), Random(1), cast("Any", None), WRIST, None)
    with pytest.raises(RefutedError, match="found"):
        paired(first, log.kind("b"), (WRIST, ELBOW), 0.0).mend(scene)
    assert log == [("mend b", ELBOW)]


@pytest.mark.parametrize("outcome", [Outcome.STAYS, Outcome.STOPS])
def test_kinds_without_a_fall_demand_no_cause(outcome: Outcome) -> None:
    log = Log()
    one = log.kind("a", codes=(HOT,))
    two = log.kind("b", outcome=outcome, codes=(GONE,))
    assert paired(one, two, (WRIST, ELBOW), 0.0).causes("") == [Cause(codes=("HOT",))]
    assert paired(two, two, (WRIST, ELBOW), 0.0).causes("") == [Cause()]


@pytest.mark.parametrize(
    "other",
    [
        {"alone": True},
        {"starves": True},
        {"outcome": Outcome.OFF},
        {"starts": (Start.DAMPING,)},
        {"name": "controller: y"},
    ],
)
def test_incompatible_kinds_make_no_pair(other: dict[str, Any]) -> None:
    log = Log()
    one = log.kind("command: x", starts=(Start.REMOTE,))
    two = log.kind("ring: y")
    assert compatible(one, two)
    assert not compatible(one, replace(two, **other))
    assert not compatible(one, one)


def test_all_frames_and_a_part_of_them_make_no_pair() -> None:
    """The second would replace the first: frames that are lost in part would end a whole loss."""
    names = ("can: all frames lost", "can: frames lost, 1 to 50 %", "can: bus-off")
    (kind,) = pairs([KINDS[name] for name in names])
    assert kind.drawn is not None
    drawn = {kind.drawn(Random(seed)).name for seed in range(100)}
    assert drawn == {
        f"{one} + {two}" for one, two in permutations(names, 2) if names[2] in (one, two)
    }


@pytest.mark.parametrize("kind", PAIRS, ids=lambda kind: kind.name)
def test_a_pair_comes_from_its_seed_alone(kind: Kind) -> None:
    assert kind.drawn is not None
    names = [kind.drawn(Random(seed)).name for seed in range(30)]
    assert names == [kind.drawn(Random(seed)).name for seed in range(30)]
    assert len(set(names)) > 20
    first = kind.name.removeprefix("two faults: ").removesuffix(" and any")
    assert {name.partition(":")[0] for name in names} == {first}
    assert {group(it) for it in PAIRS} == {"two faults"}
