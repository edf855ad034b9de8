"""MoveIt's files agree with the robot, its description and its trajectory controller."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.robot import robot_description
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_motion.collision.semantic_description import parse_disabled_pairs

ROOT = Path(__file__).resolve().parents[3]
SHARE = robot_description.share_folder("prime_moveit_config")
TRAJECTORY = ROOT / "docs/examples/trajectory.yaml"


def config(name: str) -> Any:
    return yaml.safe_load((SHARE / "config" / name).read_text())


@pytest.fixture(scope="module")
def prime() -> RobotDescription:
    return parse_robot_description(find_robot("prime").expand({"use_sim": "true"}), 200.0)


def test_builder_finds_the_description_of_the_robot() -> None:
    text = (SHARE / ".setup_assistant").read_text()
    where = yaml.safe_load(text)["moveit_setup_assistant_config"]
    found = (
        robot_description.share_folder(where["urdf"]["package"]) / where["urdf"]["relative_path"]
    )
    assert found == find_robot("prime").xacro_file
    arguments = dict(it.split(":=") for it in where["urdf"]["xacro_args"].split())
    assert arguments.keys() <= robot_description.declared_arguments(found)
    assert (SHARE / where["srdf"]["relative_path"]).is_file()


def test_srdf_is_that_of_the_robot() -> None:
    expanded = robot_description.expand(SHARE / "config/prime.srdf", {})
    own = find_robot("prime").srdf_file
    assert own is not None
    assert parse_disabled_pairs(expanded, "") == parse_disabled_pairs(own.read_text(), "")
    groups = [it.get("name") for it in ElementTree.fromstring(expanded).findall("group")]
    assert groups == ["left_arm", "right_arm", "both_arms"]


def test_groups_are_chains_of_the_description(prime: RobotDescription) -> None:
    """Each arm has its seven joints in kinematic order."""
    robot = ElementTree.fromstring(prime.urdf)
    above = {}
    for joint in robot.findall("joint"):
        child, parent = joint.find("child"), joint.find("parent")
        assert child is not None
        assert parent is not None
        above[child.get("link")] = joint, parent.get("link")
    srdf = ElementTree.fromstring(robot_description.expand(SHARE / "config/prime.srdf", {}))
    for side, chain in zip(("left", "right"), srdf.findall("group/chain"), strict=True):
        link, names = chain.get("tip_link"), []
        while link != chain.get("base_link"):
            joint, link = above[link]
            names += [joint.get("name")] if joint.get("type") == "revolute" else []
        assert names[::-1] == [name for name in prime.joints.names if name.startswith(side)]


def test_each_arm_has_a_solver() -> None:
    solvers = config("kinematics.yaml")
    assert solvers.keys() == {"left_arm", "right_arm"}
    assert {it["kinematics_solver"] for it in solvers.values()} == {
        "kdl_kinematics_plugin/KDLKinematicsPlugin"
    }


def test_limits_are_those_of_description_and_trajectory_controller(prime: RobotDescription) -> None:
    limits = config("joint_limits.yaml")["joint_limits"]
    own = yaml.safe_load(TRAJECTORY.read_text())["trajectory_controller"]["ros__parameters"]
    assert [*limits] == [*prime.joints.names]
    for name, velocity in zip(prime.joints.names, prime.limits.velocity, strict=True):
        assert limits[name] == {
            "has_velocity_limits": True,
            "max_velocity": velocity,
            "has_acceleration_limits": True,
            "max_acceleration": own["max_acceleration"],
        }


def test_controller_is_the_one_of_the_example(prime: RobotDescription) -> None:
    manager = config("moveit_controllers.yaml")["moveit_simple_controller_manager"]
    (name,) = manager["controller_names"]
    assert name in yaml.safe_load(TRAJECTORY.read_text())
    assert manager[name]["joints"] == [*prime.joints.names]
    assert manager[name]["action_ns"] == "follow_joint_trajectory"
