"""The catalogue of faults."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_campaign.campaign import drawn
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.catalogue import KINDS
from fault_campaign.kinds.kind import Kind, Outcome, Recovery, RequiredRecord
from fault_campaign.robot_joints import PRIME
from fault_campaign.scenario import Start, draw

DOCS = Path(__file__).parents[3] / "docs"
PAGE, KINDS_PAGE = DOCS / "fault_campaign.md", DOCS / "fault_campaign_reference.md"


def test_catalogue_has_more_than_forty_kinds() -> None:
    assert len(KINDS) > 40


@pytest.mark.parametrize("kind", KINDS.values(), ids=lambda kind: kind.name)
def test_every_kind_has_a_cause_of_its_fall(kind: Kind) -> None:
    assert kind.joints
    assert kind.starts
    falls = kind.outcome in (Outcome.SOFT, Outcome.EITHER) or (
        kind.outcome is Outcome.OFF and kind.filed is RequiredRecord.FALL
    )
    # The seed draws the fault.
    assert not falls or kind.drawn is not None or all(kind.causes(kind.joints[0]))


DEMANDED = {
    "DAMPING": Outcome.SOFT,
    "nothing or DAMPING": Outcome.EITHER,
    "nothing": Outcome.STAYS,
    "off": Outcome.OFF,
}
# Kinds whose fall must name the joint that was struck.
NAME_THEIR_JOINT = {
    "ring: slave reset", "ring: a drive loses its turns", "ring: clock of a slave stops",
    "ring: firmware of a drive hangs",
    "ring: drive error 0xA000", "ring: drive error 0x8500", "ring: drive error 0x8400",
    "ring: drive error 0x8130", "ring: mailbox of a drive silent", "ring: encoder stuck",
    "ring: encoder jumps by a little", "ring: encoder jumps",
    "ring: encoder jumps by 0.15 to 0.6 rad", "ring: encoder jumps by a turn",
    "can: power of a motor lost", "can: motor reset", "can: firmware of a motor hangs",
    "can: motor ignores its frames", "can: motor with another id",
    "can: motor hot", "can: motor finds a fault", "can: encoder stuck",
    "can: encoder jumps by a little", "can: encoder jumps",
    "can: encoder jumps by 0.15 to 0.6 rad", "can: encoder jumps by a turn",
}  # fmt: skip


def test_demands_of_the_kinds_are_those_of_the_page() -> None:
    """The page is written by hand: a bound that changes in the catalogue must change there."""
    rows = {}
    for row in KINDS_PAGE.read_text(encoding="utf-8").partition("## The kinds")[2].splitlines():
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        if len(cells) == 7 and not cells[0].startswith(("---", "kind")):
            rows[cells[0]] = cells[1:]
    assert list(rows) == list(KINDS)
    for name, (what, soft, way, allowed, ends, quick) in rows.items():
        kind = KINDS[name]
        if kind.drawn is not None:
            assert what == "the weaker demand of both"
            continue
        assert kind.outcome is DEMANDED[what], name
        assert soft == "–" or kind.within == float(soft.removesuffix(" s")), name
        assert (soft == "–") == (kind.outcome is Outcome.STAYS), name
        assert (kind.recovery is Recovery.RESTART) == (way == "restart"), name
        _, _, after = way.partition(" after ")
        usual = 5.0 if way == "restart" else 1.0
        assert kind.healed == (float(after.removesuffix(" s")) if after else usual), name
        assert allowed == ", ".join(f"{it.type} {it.upto:g}" for it in kind.allowed), name
        assert ends == ", ".join(kind.dies), name
        assert kind.quick == (quick == "yes"), name


def test_a_wider_bound_is_wider_and_has_a_reason() -> None:
    general = {ViolationType.SPEED: 1.5, ViolationType.EFFORT: 1.02, ViolationType.JUMP: 0.03}
    for kind in KINDS.values():
        assert all(it.upto > general[it.type] and it.why for it in kind.allowed)


def test_fall_by_a_fault_at_a_joint_names_the_joint() -> None:
    named = set()
    for kind in KINDS.values():
        joint = kind.joints[0]
        if joint in kind.causes(joint)[0].named:
            named.add(kind.name)
    assert named == NAME_THEIR_JOINT


def test_the_page_has_each_type_of_violation() -> None:
    text = PAGE.read_text(encoding="utf-8").partition("## Demands")[2]
    first = [row.split("|")[1] for row in text.splitlines() if row.startswith("| ")]
    listed = {it.strip() for cell in first for it in cell.split(",")}
    assert {str(violation_type) for violation_type in ViolationType} <= listed


def test_a_campaign_can_be_repeated_by_its_seed_and_leaves_no_kind_out() -> None:
    kinds = list(KINDS.values())
    first, again = drawn(kinds, 200, 7), drawn(kinds, 200, 7)
    assert [(kind.name, seed) for kind, seed in first] == [(k.name, seed) for k, seed in again]
    assert {kind.name for kind, _ in first} == set(KINDS)
    assert [seed for _, seed in drawn(kinds, 200, 8)] != [seed for _, seed in first]


def test_a_scenario_comes_from_its_seed_alone() -> None:
    from random import Random

    assert draw(Random(5), list(Start), PRIME.all) == draw(Random(5), list(Start), PRIME.all)
    assert draw(Random(5), [Start.REMOTE], PRIME.all).start is Start.REMOTE
