"""Distances between links are those of their shapes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_motion.collision.clearance import DETECTED, LinkPair
from humanoid_motion.collision.collision_model import CollisionModel
from humanoid_motion.collision.disabled_pairs import disabled_pairs
from humanoid_motion.collision.first_conflict import TOLERANCE, first_conflict
from humanoid_motion.collision.path_check import PathCheck
from humanoid_motion.collision.semantic_description import (
    Cause,
    parse_disabled_pairs,
    with_disabled_pairs,
)
from src.humanoid_motion.test.collision.conftest import APART, LENGTH, NARROW, RADIUS, tips_apart

JOINTS = ("left", "right")
TIPS = LinkPair("left_link", "right_link")
angles = st.floats(-1.5, 1.5)


@pytest.fixture(scope="module", name="model")
def two_fingers(fingers: str) -> CollisionModel:
    return CollisionModel(fingers, JOINTS)


@given(angles, angles)
@settings(deadline=None)
def test_clearance_is_the_distance_of_the_nearest_shapes(model, left, right) -> None:
    position = np.array([left, right])
    clearance, expected = model.clearance(position), tips_apart(position)
    if expected >= DETECTED:
        assert (clearance.distance, clearance.links) == (DETECTED, None)
    else:
        assert clearance.distance == pytest.approx(expected, abs=1e-6)
        assert clearance.links == TIPS


@pytest.mark.parametrize("apart", [0.0, 0.04, 0.06, 0.09, 0.099])
def test_every_distance_below_the_largest_is_measured(model, apart: float) -> None:
    """Both fingers lean to each other until their tips are `apart`."""
    angle = np.arcsin((APART - 2 * RADIUS - apart) / (2 * LENGTH))
    clearance = model.clearance(np.array([angle, -angle]))
    assert clearance.distance == pytest.approx(apart, abs=1e-6)


def test_a_refused_distance_is_not_rounded_to_the_expected_one(model) -> None:
    angle = np.arcsin((APART - 2 * RADIUS - 0.0197) / (2 * LENGTH))
    path = np.array([[0.0, 0.0], [angle, -angle]])
    check = PathCheck(model, 0.02, lambda: path[0], np.arange(2))
    conflict = check.conflict(path)
    assert conflict is not None
    assert check.refusal(conflict) == f"{TIPS} are 19 mm apart, expected 20 mm at least"


def test_positions_are_taken_in_the_order_of_the_joints(fingers, model) -> None:
    swapped = CollisionModel(fingers, ("right", "left"))
    position = np.array([0.5, -0.3])
    assert model.clearance(position).links == TIPS
    assert swapped.clearance(position[::-1]) == model.clearance(position)


def test_no_shape_is_farther_from_an_axis_than_its_reach(model) -> None:
    np.testing.assert_allclose(model.reach, LENGTH + RADIUS)
    np.testing.assert_allclose(model.reach_of(["left_link"]), [LENGTH + RADIUS, 0.0])


@given(st.lists(st.floats(-3.0, 3.0), min_size=6, max_size=6))
@settings(deadline=None)
def test_shapes_move_by_angle_times_reach_at_most(chain, angles: list[float]) -> None:
    """The distance of tip and base of a chain of three joints with rotated axes."""
    model, tip = CollisionModel(chain, ("a", "b", "c"), {}), LinkPair("base", "c_link")
    here, there = np.array(angles).reshape(2, 3)
    motion = abs(model.between(tip, there) - model.between(tip, here))
    assert motion <= np.abs(there - here) @ model.reach_of(["c_link"]) + 1e-6


def test_disabled_pair_is_not_checked(fingers) -> None:
    model = CollisionModel(fingers, JOINTS, {TIPS: "Default"})
    assert model.clearance(np.array([0.7, -0.7])).links is None


@pytest.mark.parametrize(
    ("joints", "disabled", "message"),
    [
        (("left", "thumb"), None, "has no joint thumb"),
        (JOINTS, {LinkPair("base", "thumb"): ""}, "no link 'thumb'; it has base, left_link"),
    ],
)
def test_unknown_names_are_refused(fingers, joints, disabled, message) -> None:
    with pytest.raises(ConfigError, match=message):
        CollisionModel(fingers, joints, disabled)


# Ways.


@pytest.mark.parametrize("samples", [2, 40])
def test_conflict_is_found_exactly_where_links_come_too_near(model, samples: int) -> None:
    """The smallest distance of each way is known; the demand is a little more, then less."""
    random, fractions = np.random.default_rng(samples), np.linspace(0.0, 1.0, 1000)[:, None]
    tried = 0
    while tried < 30:
        ends = random.uniform(-1.2, 1.2, (2, 2))
        poses = ends[0] + fractions * (ends[1] - ends[0])
        apart = tips_apart(poses)
        least = float(apart.min())
        if not 0.0 < least < min(DETECTED, *apart[[0, -1]]) - 0.01:
            continue  # the conflict is not between the ends
        tried += 1
        way = ends[0] + np.linspace(0.0, 1.0, samples)[:, None] * (ends[1] - ends[0])
        assert first_conflict(model, way, least - 1e-5) is None
        demanded = least + TOLERANCE + 1e-4
        conflict = first_conflict(model, way, demanded)
        assert conflict is not None
        assert conflict.clearance.links == TIPS
        found = tips_apart(conflict.position)
        assert demanded > found == pytest.approx(conflict.clearance.distance, abs=1e-6)


def test_first_conflict_is_found_between_samples_that_are_free(model) -> None:
    """One finger moves to the former place of the other one."""
    way = np.array([[0.9, -0.1], [0.1, -0.9]])
    assert tips_apart(way).min() > 0.05
    conflict = first_conflict(model, way, 0.03)
    assert conflict is not None
    assert conflict.sample == 0
    assert conflict.clearance.links == TIPS


def test_links_that_begin_too_near_let_no_others_come_as_near(three_fingers) -> None:
    """Right and third begin 10 mm apart; the left one must keep the full distance."""
    model = CollisionModel(three_fingers, ("left", "right", "third"))
    begin = NARROW
    near, others = LinkPair.of("right_link", "third_link"), LinkPair.of("left_link", "right_link")
    least = model.pairs(begin)[near]
    assert 0.005 < least < 0.015
    away = np.array([0.0, -0.45, -0.3])
    assert first_conflict(model, np.array([begin, away]), 0.02) is None
    deeper = first_conflict(model, np.array([begin, away, begin - [0.0, 0.0, 0.05]]), 0.02)
    assert deeper is not None
    assert deeper.clearance.links == near
    conflict = first_conflict(model, np.array([begin, [0.6, *begin[1:]]]), 0.02)
    assert conflict is not None
    assert conflict.clearance.links == others
    assert least < conflict.clearance.distance < 0.02


def test_way_out_of_a_narrow_place_may_lead_where_no_links_are_near(model) -> None:
    ends = [np.arcsin((APART - 2 * RADIUS - apart) / (2 * LENGTH)) for apart in (0.01, 0.25)]
    way = np.array([[angle, -angle] for angle in ends])
    assert model.pairs(way[0])[TIPS] == pytest.approx(0.01, abs=1e-6)
    assert model.pairs(way[1]) == {}
    assert first_conflict(model, way, 0.02) is None


def test_last_pose_of_a_way_is_checked(model) -> None:
    angles = [np.arcsin((APART - 2 * RADIUS - apart) / (2 * LENGTH)) for apart in (0.031, 0.0299)]
    way = np.array([[angle, -angle] for angle in angles])
    conflict = first_conflict(model, way, 0.03)
    assert conflict is not None
    np.testing.assert_array_equal(conflict.position, way[-1])


# SRDF.

SRDF = """<robot name="two">
  <!-- by hand -->
  <group name="arm"><joint name="elbow"/></group>
  <disable_collisions link1="b" link2="a" reason="Adjacent"/>
</robot>"""


def test_disabled_pairs_are_read_with_their_reasons() -> None:
    assert parse_disabled_pairs(SRDF, "f") == {LinkPair("a", "b"): "Adjacent"}


def test_new_pairs_replace_the_old_ones_and_leave_the_rest() -> None:
    pairs = {LinkPair("a", "c"): "Never", LinkPair("a", "b"): "Default"}
    text = with_disabled_pairs(SRDF, pairs, "f")
    assert parse_disabled_pairs(text, "f") == pairs
    assert "<!-- by hand -->" in text
    assert '<group name="arm">' in text
    assert with_disabled_pairs(text, pairs, "f") == text


def test_what_stands_around_the_robot_of_an_srdf_stays() -> None:
    """The assistant of MoveIt writes a declaration and a comment there."""
    before, after = '<?xml version="1.0"?>\n<!-- of Ä > B -->\n', "\n<!-- end -->\n"
    text = with_disabled_pairs(f'{before}<robot name="r"><group name="g"/></robot>{after}', {}, "f")
    assert text == f'{before}<robot name="r">\n  <group name="g" />\n</robot>{after}'
    assert with_disabled_pairs(f'{before}<robot name="r"/>{after}', {}, "f") == (
        f'{before}<robot name="r" />{after}'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<robot", "not valid XML"),
        ("<srdf/>", "the root is <srdf>, expected <robot name=…>"),
        ('<robot name="r"><disable_collisions link1="a"/></robot>', "disable_collisions 1: link1"),
        (
            '<robot name="r"><disable_collisions link1="a" link2="a"/></robot>',
            "both 'a', expected two links",
        ),
    ],
)
def test_wrong_text_is_refused_with_its_place(text, message) -> None:
    with pytest.raises(ConfigError, match=f"robot.srdf: .*{message}"):
        parse_disabled_pairs(text, "robot.srdf")


# Generation.


def test_pairs_are_disabled_for_their_causes(fingers) -> None:
    lower, upper = np.array([-1.5, -0.1]), np.array([0.1, 1.5])  # the fingers lean outwards
    found, _ = disabled_pairs(CollisionModel(fingers, JOINTS, {}), lower, upper)
    assert found == {
        LinkPair("base", "left_link"): Cause.ADJACENT,
        LinkPair("base", "right_link"): Cause.ADJACENT,
        TIPS: Cause.NEVER,
    }


def test_distance_of_two_links_is_measured_however_far_they_are(model) -> None:
    for position in (np.zeros(2), np.array([0.6, -0.3])):
        assert model.between(TIPS, position) == pytest.approx(tips_apart(position), abs=1e-6)


def test_pair_that_can_touch_stays_enabled(fingers) -> None:
    lower, upper = np.full(2, -1.5), np.full(2, 1.5)
    assert TIPS not in disabled_pairs(CollisionModel(fingers, JOINTS, {}), lower, upper)[0]


def test_pair_that_overlaps_only_beyond_the_joint_limits_stays_enabled(fingers) -> None:
    """At the zero pose, which the left finger cannot reach, the thick tips overlap."""
    thick = fingers.replace('radius="0.05"', 'radius="0.25"')
    model = CollisionModel(thick, JOINTS, {})
    assert model.between(TIPS, np.zeros(2)) < 0.0
    found, undecided = disabled_pairs(model, np.full(2, -1.5), np.full(2, 1.5))
    assert TIPS in found
    assert undecided == []
    assert TIPS not in disabled_pairs(model, np.array([-1.5, -1.5]), np.array([-0.4, 1.5]))[0]


def test_pairs_that_cannot_be_proved_in_time_stay_checked_and_are_named(fingers: str) -> None:
    asked = []

    def at_once(done: int, count: int) -> bool:
        asked.append((done, count))
        return False

    model = CollisionModel(fingers, JOINTS, {})
    found, undecided = disabled_pairs(model, np.full(2, -1.5), np.full(2, 1.5), at_once)
    assert TIPS in undecided
    assert found.keys().isdisjoint(undecided)
    assert [done for done, _ in asked] == list(range(len(undecided)))
    assert {count for _, count in asked} == {len(undecided)}
