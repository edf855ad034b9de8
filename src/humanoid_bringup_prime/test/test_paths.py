"""STANDBY and trajectories of Prime are refused if links would come too near."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
import yaml

from humanoid_bringup.robot_package import find_robot
from humanoid_control_common.errors import ControllerError
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.safety.link_shapes import link_shapes
from humanoid_controllers.standby import StandbyController
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_motion.collision.collision_model import CollisionModel
from humanoid_motion.collision.first_conflict import TOLERANCE
from humanoid_motion.collision.semantic_description import parse_disabled_pairs
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.points import Point
from humanoid_motion.trajectory.trajectory import STRAIGHT

if TYPE_CHECKING:
    from humanoid_control_common.robot.joints import FloatArray

RATE, DISTANCE = 200.0, 0.02  # [Hz], [m]


class Prime:
    """Prime's controllers with the shipped parameters, and an independent check of every pose."""

    def __init__(self) -> None:
        robot = find_robot("prime")
        assert robot.srdf_file is not None
        srdf = robot.srdf_file.read_text()
        description = parse_robot_description(robot.expand({"use_sim": "true"}), RATE)
        self.present = np.zeros(len(description.joints))
        shapes = link_shapes(srdf, description, DISTANCE)
        assert shapes is not None
        checks = shapes.path_checks(lambda: self.present)
        self.robot = RobotFacts(description.joints, description.limits, RATE, None, checks)
        names = description.joints.names
        self.judge = CollisionModel(description.urdf, names, parse_disabled_pairs(srdf, "srdf"))
        self.file = yaml.safe_load(robot.controllers_file.read_text())

    def least(self, way: FloatArray) -> float:
        """Return the smallest distance [m] on a way that is straight between 400 poses."""
        fractions = np.linspace(0.0, 1.0, 400)
        poses = [begin + part * (end - begin) for begin, end in pairwise(way) for part in fractions]
        return min(self.judge.clearance(pose).distance for pose in poses)

    def near(self, pose: FloatArray, *beginnings: str) -> bool:
        """Return True if the nearest links have names with these beginnings, and are near."""
        clearance = self.judge.clearance(pose)
        links = clearance.links and (clearance.links.first, clearance.links.second)
        fit = links and all(map(str.startswith, links, beginnings))
        return bool(fit) and 0.0 < clearance.distance < DISTANCE / 2

    def free_poses(self, count: int, seed: int) -> list[FloatArray]:
        """Return random poses within the limits at which links keep their distance."""
        random, limits = np.random.default_rng(seed), self.robot.limits
        found: list[FloatArray] = []
        while len(found) < count:
            pose = random.uniform(limits.target_lower, limits.target_upper)
            if self.judge.clearance(pose).distance > DISTANCE:
                found.append(pose)
        return found


@pytest.fixture(scope="module")
def prime() -> Prime:
    return Prime()


def at(pose: FloatArray) -> JointState:
    state = JointState(len(pose))
    state.array.fill(0.0)
    state.position[:] = pose
    return state


@pytest.mark.parametrize("every", [25, pytest.param(1, marks=pytest.mark.soak)])
def test_standby_is_refused_exactly_where_its_way_is_too_narrow(prime: Prime, every: int) -> None:
    """The check judges all refused ways, and every n-th of the others (`every`)."""
    parameters = prime.file["standby_controller"]["ros__parameters"]
    standby = StandbyController()
    standby.on_configure(standby.Parameters.model_validate(parameters), prime.robot)
    poses = [np.array(parameters["poses"][name]["positions"]) for name in parameters["sequence"]]
    refused = 0
    for number, pose in enumerate(prime.free_poses(1000, seed=7)):
        prime.present[:] = pose
        try:
            standby.check_start(at(pose), 0.0)
        except ControllerError as error:
            refused += 1
            assert prime.least(np.array([pose, *poses])) < DISTANCE
            assert "on the way to pose '" in str(error)
            assert "mm apart, expected 20 mm" in str(error)
        else:
            if number % every == 0:
                assert prime.least(np.array([pose, *poses])) > DISTANCE - TOLERANCE
    assert 0 < refused < 100


def test_standby_from_a_narrow_place_starts_or_names_the_links(prime: Prime) -> None:
    """A hand has pushed links too near."""
    standby = StandbyController()
    raw = prime.file["standby_controller"]["ros__parameters"]
    standby.on_configure(standby.Parameters.model_validate(raw), prime.robot)
    limits, random = prime.robot.limits, np.random.default_rng(11)
    poses = random.uniform(limits.target_lower, limits.target_upper, (3000, len(prime.present)))
    narrow = [pose for pose in poses if 0.0 < prime.judge.clearance(pose).distance < DISTANCE]
    started = 0
    for pose in narrow:
        prime.present[:] = pose
        try:
            standby.check_start(at(pose), 0.0)
        except ControllerError as error:
            assert "mm apart, expected 20 mm" in str(error)
        else:
            started += 1
    assert 0 < started < len(narrow)


@pytest.mark.parametrize("count", [40, pytest.param(1000, marks=pytest.mark.soak)])
def test_move_is_refused_exactly_where_its_way_is_too_narrow(prime: Prime, count: int) -> None:
    controller = JointTrajectoryController()
    raw = {"stiffness": 20.0, "damping": 2.0, "max_acceleration": 5.0, "max_jerk": 60.0}
    controller.on_configure(controller.Parameters.model_validate(raw), prime.robot)
    names, refused = prime.robot.joints.names, 0
    poses = prime.free_poses(2 * count, seed=count)
    for here, there in zip(poses[::2], poses[1::2], strict=True):
        prime.present[:] = here
        controller.on_activate(at(here), JointCommand(len(here)), 0.0)
        try:
            goal = controller.planner.move(dict(zip(names, there.tolist(), strict=True)), 0.0)
        except MotionRefusedError as error:
            refused += 1
            assert "mm apart, expected 20 mm at least: take another way" in str(error)
            assert controller.follower.progress.goal.trajectory.duration == 0.0
            continue
        times = np.linspace(0.0, goal.trajectory.duration, 500).tolist()
        way = [goal.trajectory.at(time)[0] for time in times]
        least = min(prime.judge.clearance(pose).distance for pose in way)
        assert least > DISTANCE - TOLERANCE
    assert 0 < refused < count / 2


def test_way_out_of_a_narrow_place_is_free_and_deeper_into_it_is_not(prime: Prime) -> None:
    """A hand has pushed links too near: the arm must be able to leave."""
    assert prime.robot.path_check is not None
    check, random = prime.robot.path_check(), np.random.default_rng(3)
    limits, clear = prime.robot.limits, np.zeros(len(prime.present))
    narrow = next(
        pose
        for pose in random.uniform(limits.target_lower, limits.target_upper, (5000, len(clear)))
        if 0.0 < prime.judge.clearance(pose).distance < 0.01
    )
    near = prime.judge.clearance(narrow).distance
    out = next(
        pose
        for pose in narrow + random.uniform(-0.1, 0.1, (5000, len(clear)))
        if prime.least(np.array([narrow, pose])) == pytest.approx(near)
    )
    assert check.conflict(np.array([narrow, out])) is None
    deeper = check.conflict(np.array([narrow, 2 * narrow - out]))
    assert deeper is not None
    assert deeper.clearance.distance < near


def test_way_of_one_arm_is_checked_against_the_other_arm_where_it_is(prime: Prime) -> None:
    limits, random = prime.robot.limits, np.random.default_rng(2)
    poses = random.uniform(limits.target_lower, limits.target_upper, (50_000, len(prime.present)))
    arms_meet = next(pose for pose in poses if prime.near(pose, "left", "right"))
    left = prime.robot.of(np.arange(7)).path_check
    assert left is not None
    way = np.array([np.zeros(7), arms_meet[:7]])
    prime.present[:] = np.concatenate([np.zeros(7), arms_meet[7:]])
    conflict = left().conflict(way)
    assert conflict is not None
    links = conflict.clearance.links
    assert links is not None
    assert (links.first[:5], links.second[:5]) == ("left_", "right")
    prime.present[:] = 0.0
    assert left().conflict(way) is None


@pytest.mark.parametrize("duration", [3000.0, 80_000.0])
def test_slow_way_is_checked_with_as_few_samples_as_a_fast_one(
    prime: Prime, monkeypatch: pytest.MonkeyPatch, duration: float
) -> None:
    """The loop goes to DAMPING if the ROS side is busy with a check for 200 ms."""
    controller = JointTrajectoryController()
    raw = {"stiffness": 20.0, "damping": 2.0, "allow_partial_joints_goal": True}
    controller.on_configure(controller.Parameters.model_validate(raw), prime.robot)
    prime.present.fill(0.0)
    controller.on_activate(at(prime.present), JointCommand(len(prime.present)), 0.0)
    elbow = ["left_elbow_pitch"]
    goal = controller.planner.follow(elbow, [Point(duration, [-0.9])], 0.0)
    times, poses = goal.trajectory.poses()
    assert len(times) < 200
    exact = np.array([goal.trajectory.at(time)[0] for time in times])
    assert np.abs(poses - exact).max() < 1e-9
    middle = np.array([goal.trajectory.at(time)[0] for time in (times[1:] + times[:-1]) / 2])
    assert np.abs((poses[1:] + poses[:-1]) / 2 - middle).max() < STRAIGHT


def test_way_with_too_many_looks_is_refused(prime: Prime) -> None:
    controller = JointTrajectoryController()
    raw = {"stiffness": 20.0, "damping": 2.0, "allow_partial_joints_goal": True}
    controller.on_configure(controller.Parameters.model_validate(raw), prime.robot)
    prime.present.fill(0.0)
    controller.on_activate(at(prime.present), JointCommand(len(prime.present)), 0.0)
    points = [Point(2.0 * i, [-0.5 - 0.4 * (-1) ** i] * 2) for i in range(1, 1001)]
    elbows = ["left_elbow_pitch", "right_elbow_pitch"]
    with pytest.raises(MotionRefusedError, match="send it in parts"):
        controller.planner.follow(elbows, points, 0.0)


def test_jog_ends_where_links_come_too_near_and_turns_back_at_once(prime: Prime) -> None:
    """A command inside the torso would keep the arm there until the command has left it."""
    controller = JointTrajectoryController()
    raw = {"stiffness": 20.0, "damping": 2.0, "allow_partial_joints_goal": True}
    controller.on_configure(controller.Parameters.model_validate(raw), prime.robot)
    names = prime.robot.joints.names
    joint = "left_shoulder_yaw"
    prime.present.fill(0.0)
    prime.present[names.index("left_elbow_pitch")] = -1.5
    controller.on_activate(at(prime.present), JointCommand(len(names)), 0.0)
    command, now = JointCommand(len(names)), 0.0

    def jog(speed: float, seconds: float) -> None:
        nonlocal now
        for tick in range(round(seconds * RATE)):
            if tick % 10 == 0:
                controller.planner.jog({joint: speed}, now)
            now += 1 / RATE
            controller.update(at(prime.present), command, now, 1 / RATE)
            prime.present[:] = command.position

    jog(-0.2, 10.0)
    nearest = prime.judge.clearance(prime.present)
    assert DISTANCE - TOLERANCE < nearest.distance < DISTANCE + 2 * TOLERANCE, nearest
    end = command.position[names.index(joint)]
    jog(0.2, 1.0)
    assert command.position[names.index(joint)] > end + 0.1
