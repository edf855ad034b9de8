from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_viz.state.model import (
    Box,
    Cylinder,
    Joint,
    JointKind,
    Pose,
    Sphere,
    multiply,
    rotate,
    rotation_from_rpy,
)
from humanoid_viz.state.urdf import UNCOLOURED, parse_urdf

angles = st.floats(-10, 10)
ORANGE = (1.0, 0.35, 0.0, 1.0)


def joint(kind: JointKind, origin: Pose = Pose(), axis=(0.0, 0.0, 1.0)) -> Joint:  # noqa: B008
    return Joint("j", kind, "a", "b", origin, axis)


def test_links_shapes_and_joints_are_read(arm_urdf):
    robot = parse_urdf(arm_urdf)
    assert (robot.name, robot.root, robot.not_drawn) == ("arm", "base", ())
    assert [(j.name, j.parent, j.child) for j in robot.joints] == [
        ("shoulder", "base", "upper"),
        ("elbow", "upper", "fore"),
    ]
    shapes = {link: visuals[0].shape for link, visuals in robot.visuals.items()}
    assert shapes == {
        "base": Cylinder(0.15, 1.0),
        "upper": Box((0.5, 0.5, 0.5)),
        "fore": Sphere(0.2),
    }
    assert {visual[0].rgba for visual in robot.visuals.values()} == {ORANGE}
    assert robot.visuals["base"][0].pose.position == (0.0, 0.0, 0.5)


def test_joints_follow_those_that_carry_them_whatever_their_order_in_the_file():
    robot = parse_urdf(
        """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
        <joint name="late" type="fixed"><parent link="b"/><child link="c"/></joint>
        <joint name="early" type="continuous"><parent link="a"/><child link="b"/></joint></robot>"""
    )
    assert [j.name for j in robot.joints] == ["early", "late"]
    assert robot.moving_joints == ("early",)


def test_meshes_are_named_and_not_drawn():
    robot = parse_urdf(
        """<robot name="r"><link name="hand"><visual><geometry><mesh filename="hand.stl"/>
        </geometry></visual></link></robot>"""
    )
    assert robot.not_drawn == ("hand",)
    assert robot.visuals["hand"] == ()


def test_a_visual_without_material_gets_a_plain_colour():
    robot = parse_urdf(
        """<robot name="r"><link name="a"><visual><geometry><sphere radius="1"/></geometry>
        </visual></link></robot>"""
    )
    assert robot.visuals["a"][0].rgba == UNCOLOURED


def link_with(visual: str) -> str:
    return f'<robot name="r"><link name="a"><visual>{visual}</visual></link></robot>'


def joint_with(text: str, kind: str = "revolute") -> str:
    return (
        '<robot name="r"><link name="a"/><link name="b"/>'
        f'<joint name="j" type="{kind}">{text}</joint></robot>'
    )


ENDS = '<parent link="a"/><child link="b"/>'


@pytest.mark.parametrize(
    ("urdf", "message"),
    [
        ("", "not valid XML: no element found"),
        ("<robot><link name='a'></robot>", "not valid XML: mismatched tag: line 1"),
        ("<sdf/>", "root is <sdf>, expected <robot>"),
        ("<robot/>", "no <link> in <robot>"),
        ("<robot><link/></robot>", "a <link> has no name"),
        ("<robot><link name='a'/><link name='a'/></robot>", "link 'a' occurs twice"),
        ("<robot><link name='a'/><link name='b'/></robot>", "links without a parent: 'a', 'b'"),
        (joint_with(ENDS, "hinge"), "joint 'j': type is 'hinge', expected one of fixed"),
        (joint_with('<parent link="a"/>'), "joint 'j': its child '' is no link"),
        (joint_with('<parent link="a"/><child link="x"/>'), "joint 'j': its child 'x' is no link"),
        (joint_with(ENDS + '<axis xyz="0 0 0"/>'), "joint 'j': axis '0 0 0'"),
        (
            joint_with(ENDS + '<origin xyz="0 0"/>'),
            "joint 'j': origin xyz: expected 3 finite numbers, found '0 0'",
        ),
        (
            joint_with(ENDS + '<origin rpy="0 nan 0"/>'),
            "joint 'j': origin rpy: expected 3 finite numbers, found '0 nan 0'",
        ),
        (
            """<robot><link name="a"/><link name="b"/><link name="c"/>
            <joint name="j" type="fixed"><parent link="a"/><child link="c"/></joint>
            <joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint></robot>""",
            "link 'c' is the child of joint 'j' and of joint 'k'",
        ),
        (
            """<robot><link name="a"/><link name="b"/><link name="c"/>
            <joint name="j" type="fixed"><parent link="c"/><child link="b"/></joint>
            <joint name="k" type="fixed"><parent link="b"/><child link="c"/></joint></robot>""",
            "links b, c are not connected to 'a'",
        ),
        (link_with(""), "link 'a': visual: expected one <geometry> with one shape"),
        (
            link_with("<geometry><cone/></geometry>"),
            "link 'a': visual: cone: expected box, cylinder, sphere or mesh",
        ),
        (
            link_with('<geometry><sphere radius="big"/></geometry>'),
            "link 'a': visual: sphere radius: expected a finite number, found 'big'",
        ),
        (
            link_with('<geometry><sphere radius="1"/></geometry><material name="blue"/>'),
            "link 'a': visual: there is no material 'blue'",
        ),
        (
            link_with(
                '<geometry><sphere radius="1"/></geometry>'
                '<material name="blue"><color rgba="0 0 1"/></material>'
            ),
            "material 'blue': rgba: expected 4 finite numbers, found '0 0 1'",
        ),
    ],
)
def test_malformed_descriptions_are_refused_with_place_and_cause(urdf, message):
    with pytest.raises(ConfigError, match=message):
        parse_urdf(urdf)


@given(roll=angles, pitch=angles, yaw=angles)
def test_roll_pitch_and_yaw_are_turns_about_fixed_axes(roll, pitch, yaw):
    rotation = rotation_from_rpy(roll, pitch, yaw)
    assert math.isclose(sum(c * c for c in rotation), 1.0)
    # The x axis is not moved by roll; pitch tips it down, then yaw turns it.
    expected = (
        math.cos(yaw) * math.cos(pitch),
        math.sin(yaw) * math.cos(pitch),
        -math.sin(pitch),
    )
    assert rotate(rotation, (1.0, 0.0, 0.0)) == pytest.approx(expected, abs=1e-9)


@given(a=angles, b=angles)
def test_a_joint_turned_twice_is_turned_by_the_sum(a, b):
    turning = joint(JointKind.TURNING, axis=(0.6, 0.0, 0.8))
    both = multiply(turning.pose_at(a).rotation, turning.pose_at(b).rotation)
    assert both == pytest.approx(turning.pose_at(a + b).rotation, abs=1e-9)


def test_a_turning_joint_stays_at_its_origin_and_a_sliding_one_keeps_its_rotation():
    origin = Pose((1.0, 2.0, 3.0), rotation_from_rpy(0.0, math.pi / 2, 0.0))
    assert joint(JointKind.TURNING, origin).pose_at(1.0).position == origin.position
    slid = joint(JointKind.SLIDING, origin).pose_at(0.5)
    assert slid.rotation == origin.rotation
    assert slid.position == pytest.approx((1.5, 2.0, 3.0))  # its z axis points along x
    assert joint(JointKind.FIXED, origin).pose_at(1.0) == origin
