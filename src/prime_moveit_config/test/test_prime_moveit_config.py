"""MoveIt's files agree with the robot, its description and its trajectory controller."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.robot import robot_description
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_motion.collision.semantic_description import parse_disabled_pairs
from humanoid_motion.trajectory.points import Point

SHARE = robot_description.share_folder("prime_moveit_config")


def shipped(controller: str) -> Any:
    """The parameters of a controller that Prime ships."""
    content = yaml.safe_load(find_robot("prime").controllers_file.read_text())
    return content[controller]["ros__parameters"]


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
    assert groups == ["left_arm", "right_arm", "both_arms", "left_hand", "right_hand"]


def test_named_poses_are_those_of_the_robot_in_each_group(prime: RobotDescription) -> None:
    srdf = ElementTree.fromstring(robot_description.expand(SHARE / "config/prime.srdf", {}))
    own = shipped("standby_controller")["poses"]
    poses = {"zero": [0.0] * 14} | {name: pose["positions"] for name, pose in own.items()}
    for name, angles in poses.items():
        joints = dict(zip(prime.joints.names, angles, strict=True))
        for group, prefix in (("left_arm", "left"), ("right_arm", "right"), ("both_arms", "")):
            found = srdf.findall(f"group_state[@name='{name}'][@group='{group}']/joint")
            expected = {joint: it for joint, it in joints.items() if joint.startswith(prefix)}
            assert {it.get("name"): float(it.get("value", "")) for it in found} == expected
    assert len(srdf.findall("group_state")) == 3 * len(poses)


def test_each_hand_is_the_end_of_the_chain_of_its_arm() -> None:
    srdf = ElementTree.fromstring(robot_description.expand(SHARE / "config/prime.srdf", {}))
    for hand in srdf.findall("end_effector"):
        (chain,) = srdf.findall(f"group[@name='{hand.get('parent_group')}']/chain")
        (link,) = srdf.findall(f"group[@name='{hand.get('group')}']/link")
        assert hand.get("parent_link") == chain.get("tip_link") == link.get("name")
    assert len(srdf.findall("end_effector")) == 2


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


# Between two points a joint accelerates more than at them. Largest ratios of the acceleration of an
# interpolation to that of the profile, for any profile and interval: of cubics 5/3, of quintics
# 2.07; with positions only 3.2 were measured.
FACTOR = 2.5
FACTOR_OF_POSITIONS = 3.5
SAMPLING = 0.1  # [s] MoveIt's resample_dt
OVERSHOOT = 0.355  # of a quintic's velocity, at most, by acceleration and interval


def test_limits_leave_room_for_what_happens_between_points(prime: RobotDescription) -> None:
    found = config("joint_limits.yaml")
    most = shipped("trajectory_controller")["max_acceleration"]
    assert [*found["joint_limits"]] == [*prime.joints.names]
    for own, velocity in zip(found["joint_limits"].values(), prime.limits.velocity, strict=True):
        assert own["has_velocity_limits"]
        assert own["has_acceleration_limits"]
        assert own["max_acceleration"] == most / FACTOR
        room = velocity - own["max_velocity"]
        assert OVERSHOOT * own["max_acceleration"] * SAMPLING < room < 0.1
    assert 0 < found["default_velocity_scaling_factor"] <= 1
    assert 0 < found["default_acceleration_scaling_factor"] <= 1


def time_optimal(
    distance: FloatArray, velocity: FloatArray, acceleration: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return times (m,), and the states (m, 3, n) of the fastest straight way, as MoveIt samples.

    It accelerates as hard as the first joint that reaches its limit may, and brakes as hard.
    """
    speed, bend = (1 / np.max(np.abs(distance) / limit) for limit in (velocity, acceleration))
    speed = min(speed, np.sqrt(bend))
    rise, total = speed / bend, 1 / speed + speed / bend
    times = np.minimum(np.arange(np.ceil(total / SAMPLING) + 1) * SAMPLING, total)
    left = total - times
    phases = [times < rise, left > rise]
    ways = [
        np.select(
            phases, [bend * times**2 / 2, speed * (times - rise / 2)], 1 - bend * left**2 / 2
        ),
        np.select(phases, [bend * times, speed + 0 * times], bend * left),
        np.select(phases, [bend + 0 * times, 0 * times], -bend),
    ]
    return times, np.stack(ways, axis=1)[:, :, None] * distance


@pytest.fixture(scope="module")
def controller(prime: RobotDescription) -> JointTrajectoryController:
    """The shipped trajectory controller; the links are not checked."""
    made = JointTrajectoryController()
    parameters = made.Parameters.model_validate(shipped("trajectory_controller"))
    made.on_configure(parameters, RobotFacts(prime.joints, prime.limits, 200.0))
    return made


@pytest.mark.parametrize("moved", [1, 3, 14])
@pytest.mark.parametrize("scaling", ["default", "full"])
@pytest.mark.parametrize(
    ("given", "factor"), [(3, 1.0), (2, 1.0), (1, FACTOR / FACTOR_OF_POSITIONS)]
)
def test_every_plan_within_the_limits_is_followed(
    prime: RobotDescription,
    controller: JointTrajectoryController,
    given: int,
    factor: float,
    scaling: str,
    moved: int,
) -> None:
    """A hundred plans between random poses; points have 1 position, 2 velocity, 3 acceleration."""
    dice = np.random.default_rng(moved)
    limits = config("joint_limits.yaml")
    velocity, acceleration = (
        np.array([it[f"max_{what}"] for it in limits["joint_limits"].values()])
        * (limits[f"default_{what}_scaling_factor"] if scaling == "default" else 1.0)
        for what in ("velocity", "acceleration")
    )
    inside = prime.limits
    for _ in range(100):
        rows = dice.choice(14, moved, replace=False)
        start, end = dice.uniform(inside.target_lower, inside.target_upper, (2, 14))
        way = (end - start)[rows] * dice.uniform(0.02, 1.0)
        times, states = time_optimal(way, velocity[rows], factor * acceleration[rows])
        states[:, 0] += start[rows]
        points = [Point(t, *state[:given]) for t, state in zip(times.tolist(), states, strict=True)]
        at = JointState(14)
        at.position[:] = start
        controller.on_activate(at, JointCommand(14), 0.0)
        goal = controller.planner.follow([*prime.joints.names_at(rows)], points, 0.0)
        assert goal.trajectory.end[0, rows] == pytest.approx(start[rows] + way)


def test_controller_is_the_shipped_one(prime: RobotDescription) -> None:
    manager = config("moveit_controllers.yaml")["moveit_simple_controller_manager"]
    (name,) = manager["controller_names"]
    assert shipped(name)["allow_partial_joints_goal"]
    assert manager[name]["joints"] == [*prime.joints.names]
    assert manager[name]["action_ns"] == "follow_joint_trajectory"
