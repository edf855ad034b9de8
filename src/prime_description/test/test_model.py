"""The robot in the URDF: joints, limits, masses."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import pytest
from test_support.arm_joints import ALL_JOINTS, ARM, SIDES

Urdf = Callable[[str], Element]


def joint(robot: Element, name: str) -> Element:
    found = robot.find(f"joint[@name='{name}']")
    assert found is not None
    return found


def limit(robot: Element, name: str) -> dict[str, float]:
    element = joint(robot, name).find("limit")
    assert element is not None
    return {key: float(value) for key, value in element.attrib.items()}


def test_check_urdf_accepts_the_description(
    urdf_text: Callable[[str], str], tmp_path: Path
) -> None:
    program = shutil.which("check_urdf")
    if program is None:
        assert "CI" not in os.environ, "check_urdf is missing: install liburdfdom-tools"
        pytest.skip("check_urdf is not installed (liburdfdom-tools)")
    file = tmp_path / "prime.urdf"
    file.write_text(urdf_text("real"))
    done = subprocess.run([program, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Successfully Parsed XML" in done.stdout


def test_only_the_arm_joints_are_movable(urdf: Urdf) -> None:
    kinds = {str(j.get("name")): j.get("type") for j in urdf("real").findall("joint")}
    assert {name for name, kind in kinds.items() if kind != "fixed"} == set(ALL_JOINTS)
    assert [kinds[f"waist_{axis}"] for axis in ("yaw", "roll", "pitch")] == ["fixed"] * 3


@pytest.mark.parametrize("name", ALL_JOINTS)
def test_joint_turns_about_the_axis_in_its_name(urdf: Urdf, name: str) -> None:
    axes = {"roll": "1 0 0", "pitch": "0 1 0", "yaw": "0 0 1"}
    element = joint(urdf("real"), name)
    axis, origin = element.find("axis"), element.find("origin")
    assert axis is not None
    assert axis.get("xyz") == axes[name.rsplit("_", 1)[1]]
    assert origin is not None
    assert origin.get("rpy") == "0 0 0"


@pytest.mark.parametrize("name", ALL_JOINTS)
def test_limits_are_plausible_and_leave_room_around_zero(urdf: Urdf, name: str) -> None:
    found = limit(urdf("real"), name)
    assert found["lower"] <= -0.35 < 0.35 <= found["upper"]
    assert -np.pi <= found["lower"]
    assert found["upper"] <= np.pi
    assert 5.0 <= found["effort"] <= 50.0
    assert 1.0 <= found["velocity"] <= 2 * np.pi
    if name.endswith(("wrist_roll", "wrist_pitch")):
        assert found["velocity"] <= 3.1  # the Sito wire ends at 32767 counts/s = 3.14 rad/s


@pytest.mark.parametrize("name", ALL_JOINTS)
def test_targets_end_a_margin_before_the_limits(urdf: Urdf, name: str) -> None:
    hard, element = limit(urdf("real"), name), joint(urdf("real"), name).find("safety_controller")
    assert element is not None
    soft = {key: float(value) for key, value in element.attrib.items()}
    assert soft["soft_lower_limit"] == pytest.approx(hard["lower"] + 0.05)
    assert soft["soft_upper_limit"] == pytest.approx(hard["upper"] - 0.05)
    # Half the effort is left 0.15 rad before the end, for a joint at rest.
    assert soft["k_velocity"] * soft["k_position"] * 0.15 == pytest.approx(hard["effort"] / 2)


@pytest.mark.parametrize("part", ARM)
def test_limits_of_the_right_arm_mirror_those_of_the_left(urdf: Urdf, part: str) -> None:
    left, right = (limit(urdf("real"), f"{side}_{part}") for side in SIDES)
    if not part.endswith("pitch"):
        left["lower"], left["upper"] = -left["upper"], -left["lower"]
    assert right == left


def test_joints_have_no_friction_so_that_motion_can_be_checked_against_theory(urdf: Urdf) -> None:
    for name in ALL_JOINTS:
        dynamics = joint(urdf("real"), name).find("dynamics")
        assert dynamics is not None
        assert (float(dynamics.attrib["damping"]), float(dynamics.attrib["friction"])) == (0.0, 0.0)


def test_each_arm_weighs_at_most_4_kg(urdf: Urdf) -> None:
    for side in SIDES:
        masses = [
            float(mass.attrib["value"])
            for link in urdf("real").findall("link")
            if str(link.get("name")).startswith(side)
            for mass in link.findall("inertial/mass")
        ]
        assert len(masses) == 8  # seven links and the hand
        assert 3.0 <= sum(masses) <= 4.0


def test_every_link_but_the_world_has_a_possible_inertia(urdf: Urdf) -> None:
    links = [link for link in urdf("real").findall("link") if link.get("name") != "world"]
    assert len(links) == 5 + 2 * 8  # pedestal, two waist links, torso, head; the arms
    for link in links:
        mass, inertia = link.find("inertial/mass"), link.find("inertial/inertia")
        assert mass is not None
        assert inertia is not None
        value = {key: float(text) for key, text in inertia.attrib.items()}
        assert (value["ixy"], value["ixz"], value["iyz"]) == (0.0, 0.0, 0.0)
        moments = np.sort([value["ixx"], value["iyy"], value["izz"]])
        gyration = np.sqrt(moments / float(mass.attrib["value"]))  # [m]
        assert moments[0] > 0
        assert moments[0] + moments[1] >= moments[2]
        assert gyration[0] > 0.005
        assert gyration[2] < 0.25
