"""Figures that decide how links move are finite, and refused with their joint."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from humanoid_control_common.description.motion import check_motion
from humanoid_control_common.errors import ConfigError


def check(joint: str = "", more: str = "") -> None:
    check_motion(
        ElementTree.fromstring(
            f'<robot><joint name="j" type="revolute">{joint}</joint>{more}</robot>'
        )
    )


def test_figures_that_are_left_out_have_their_defaults() -> None:
    check()
    check("<origin/><dynamics/>", "<mujoco><option/></mujoco>")


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ('<origin xyz="0 0 nan"/>', "origin xyz: expected 3 finite numbers, found '0 0 nan'"),
        ('<origin xyz="0 0 1e999"/>', "origin xyz: expected 3 finite numbers, found '0 0 1e999'"),
        ('<origin xyz="0 0"/>', "origin xyz: expected 3 finite numbers, found '0 0'"),
        ('<origin rpy="0 a 0"/>', "origin rpy: expected 3 finite numbers, found '0 a 0'"),
        ('<dynamics damping="nan"/>', "dynamics damping: expected a finite number, found 'nan'"),
        ('<dynamics damping="-5"/>', "dynamics damping is -5, expected 0 or more"),
        ('<dynamics friction="-1"/>', "dynamics friction is -1, expected 0 or more"),
    ],
)
def test_a_joint_with_an_impossible_figure_is_refused(joint: str, message: str) -> None:
    with pytest.raises(ConfigError, match=f"^joint 'j': {message}$"):
        check(joint)


@pytest.mark.parametrize("gravity", ["0 0 nan", "0 9.81", "down"])
def test_a_gravity_that_is_no_vector_is_refused(gravity: str) -> None:
    with pytest.raises(ConfigError, match=f"gravity>: expected 3 finite .* found '{gravity}'"):
        check(more=f'<mujoco><option gravity="{gravity}"/></mujoco>')
