"""Distances are exact for every shape, from whatever side the links approach each other."""

from __future__ import annotations

from itertools import combinations
from math import pi, sqrt

import numpy as np
import pytest

from humanoid_motion.collision.clearance import DETECTED, LinkPair
from humanoid_motion.collision.collision_model import CollisionModel

HALF = 0.05  # [m] of each box
EDGE, CORNER = sqrt(2.0) * HALF, sqrt(3.0) * HALF  # [m] from a box's centre
FACE, ON_EDGE, ON_CORNER = "0 0 0", f"{pi / 4} 0 0", f"{pi / 4} {-np.arctan(1 / sqrt(2.0))} 0"
CROSSING = f"0 {pi / 4} 0"  # on an edge that is square to that of ON_EDGE
GAPS = (0.001, 0.01, 0.025, 0.04, 0.06, 0.09)  # [m]
BOX = f'<box size="{2 * HALF} {2 * HALF} {2 * HALF}"/>'
ROD = '<cylinder radius="0.02" length="0.3"/>'


def _link(name: str, place: str, shape: str, turned: str) -> str:
    return f"""
  <joint name="{name}" type="revolute">
    <parent link="base"/><child link="{name}_link"/>
    <origin xyz="{place}"/><axis xyz="0 0 1"/>
    <limit lower="-1.5" upper="1.5" effort="1" velocity="1"/>
  </joint>
  <link name="{name}_link">
    <inertial>
      <mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
    </inertial>
    <collision><origin rpy="{turned}"/><geometry>{shape}</geometry></collision>
  </link>"""


def _two(one: tuple[str, str], other: tuple[str, str], place: str, extension: str = "") -> str:
    """A robot of two links with a shape each, the other one at `place`."""
    links = _link("one", "0 0 0", *one) + _link("other", place, *other)
    return f'<robot name="two">{extension}<link name="base"/>{links}</robot>'


def _distance(urdf: str) -> float:
    model = CollisionModel(urdf, ("one", "other"))
    found = model.clearance(np.zeros(2))
    assert found.links is not None
    assert model.pairs(np.zeros(2)) == {found.links: pytest.approx(found.distance, abs=1e-6)}
    return found.distance


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize("axis", range(3))
def test_boxes_side_by_side_are_as_far_apart_as_their_faces(axis: int, gap: float) -> None:
    place = np.zeros(3)
    place[axis] = 2 * HALF + gap
    urdf = _two((BOX, FACE), (BOX, FACE), " ".join(map(str, place)))
    assert _distance(urdf) == pytest.approx(gap, abs=1e-6)


@pytest.mark.parametrize("gap", GAPS)
@pytest.mark.parametrize(
    ("lower", "below", "upper", "above"),
    [
        (FACE, HALF, ON_EDGE, EDGE),
        (FACE, HALF, ON_CORNER, CORNER),
        (ON_EDGE, EDGE, CROSSING, EDGE),
        (ON_EDGE, EDGE, ON_CORNER, CORNER),
        (ON_CORNER, CORNER, ON_CORNER, CORNER),
    ],
    ids=["edge over face", "corner over face", "crossing edges", "corner over edge", "corners"],
)
def test_boxes_on_edges_and_corners_are_as_far_apart_as_these(
    lower: str, below: float, upper: str, above: float, gap: float
) -> None:
    urdf = _two((BOX, lower), (BOX, upper), f"0 0 {below + above + gap}")
    assert _distance(urdf) == pytest.approx(gap, abs=1e-6)


@pytest.mark.parametrize("gap", GAPS)
def test_cylinders_that_cross_are_as_far_apart_as_their_mantles(gap: float) -> None:
    urdf = _two((ROD, f"{pi / 2} 0 0"), (ROD, f"0 {pi / 2} 0"), f"0 0 {0.04 + gap}")
    assert _distance(urdf) == pytest.approx(gap, abs=1e-6)


def test_pairs_are_those_that_are_near_one_by_one() -> None:
    """Eight links around a base, at random poses; `between` looks at one pair only."""
    places = [f"{0.2 * (i % 4):.2f} {0.25 * (i // 4):.2f} {0.1 * (i % 3):.2f}" for i in range(8)]
    shapes = [(BOX, ON_CORNER), (ROD, f"0 {pi / 2} 0")]
    links = [_link(f"j{i}", place, *shapes[i % 2]) for i, place in enumerate(places)]
    joints = tuple(f"j{i}" for i in range(8))
    urdf = f'<robot name="eight"><link name="base"/>{"".join(links)}</robot>'
    model, random = CollisionModel(urdf, joints, {}), np.random.default_rng(1)
    every = [LinkPair.of(f"{one}_link", f"{two}_link") for one, two in combinations(joints, 2)]
    for _ in range(30):
        position = random.uniform(-1.5, 1.5, 8)
        apart = {pair: model.between(pair, position) for pair in every}
        near = {pair: distance for pair, distance in apart.items() if distance < DETECTED}
        assert near
        assert model.pairs(position) == pytest.approx(near, abs=1e-9)
        found = model.clearance(position)
        assert found.links is not None
        assert near[found.links] == min(near.values()) == pytest.approx(found.distance, abs=1e-6)


@pytest.mark.parametrize("flag", ["contact", "constraint", "nativeccd"])
def test_a_simulation_without_contacts_does_not_end_the_check(flag: str) -> None:
    """The description's `<mujoco>` extension applies to its simulation."""
    extension = f'<mujoco><option><flag {flag}="disable"/></option></mujoco>'
    urdf = _two((BOX, ON_CORNER), (BOX, ON_CORNER), f"0 0 {2 * CORNER + 0.025}", extension)
    assert _distance(urdf) == pytest.approx(0.025, abs=1e-6)


@pytest.mark.parametrize("order", [1, -1])
def test_the_nearest_shape_of_a_link_counts(order: int) -> None:
    near, far = f"0 0 {2 * HALF + 0.03}", f"0 0 {2 * HALF + 0.06}"
    urdf = _two((BOX, FACE), (BOX, FACE), "0 0 0")
    shapes = "".join(
        f'<collision><origin xyz="{place}"/><geometry>{BOX}</geometry></collision>'
        for place in (near, far)[::order]
    )
    head, _, tail = urdf.rpartition("<collision>")
    urdf = head + shapes + tail.partition("</collision>")[2]
    assert _distance(urdf) == pytest.approx(0.03, abs=1e-6)


def test_of_a_chain_only_the_links_of_one_joint_are_not_checked() -> None:
    """A post is fixed on a foot; an arm of two links hangs at the post, beside the foot."""
    place, fixed = f"0 0 {2 * HALF + 0.01}", 'name="post" type="fixed"'
    links = [_link(name, place, BOX, FACE) for name in ("post", "upper", "lower")]
    links[0] = links[0].replace('name="post" type="revolute"', fixed)
    links[1] = links[1].replace('link="base"', 'link="post_link"')
    links[1] = links[1].replace(place, f"{2 * HALF + 0.02} 0 {-2 * HALF - 0.01}")
    links[2] = links[2].replace('link="base"', 'link="upper_link"')
    foot = f"<collision><geometry>{BOX}</geometry></collision>"
    urdf = f'<robot name="chain"><link name="base">{foot}</link>{"".join(links)}</robot>'
    found = set(CollisionModel(urdf, ("upper", "lower")).pairs(np.zeros(2)))
    near = [("base", "upper_link"), ("base", "lower_link"), ("lower_link", "post_link")]
    assert found == {LinkPair.of(*names) for names in near}


def test_links_that_are_fixed_to_each_other_and_visual_shapes_are_not_checked() -> None:
    place = f"0 0 {2 * HALF + 0.02}"
    plain = _two((BOX, FACE), (BOX, FACE), place)
    fixed = plain.replace('name="other" type="revolute"', 'name="other" type="fixed"').replace(
        'name="one" type="revolute"', 'name="one" type="fixed"'
    )
    assert CollisionModel(fixed, ()).clearance(np.zeros(0)).links is None
    extension = '<mujoco><compiler discardvisual="false"/></mujoco>'
    seen = _two((BOX, FACE), (BOX, FACE), place, extension).replace("collision>", "visual>")
    assert CollisionModel(seen, ("one", "other")).clearance(np.zeros(2)).links is None
