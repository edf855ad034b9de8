"""Goals of the trajectory controller: begin, end, stop and replacement, never with a step."""

from __future__ import annotations

from dataclasses import replace
from math import floor, inf, nan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import Capability
from humanoid_controller_manager.controller import CONTROLLER_CONTRACT, ModeGains, RobotFacts
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_controllers.trajectory.goal import Status, goal_tolerances
from humanoid_controllers.trajectory.planner import LEAD
from humanoid_motion.errors import MotionRefusedError, Refusal
from humanoid_motion.trajectory.points import Point

NAMES = ["joint_0", "joint_1", "joint_2"]


def test_trajectory_controller_fulfils_the_controller_contract() -> None:
    assert CONTROLLER_CONTRACT.taken_on(JointTrajectoryController, "test")


def test_controller_without_a_goal_holds_the_measured_pose_with_the_modes_gains(
    make_bench: Any,
) -> None:
    bench = make_bench(position=0.4)
    bench.tick(3)
    assert bench.command.position.tolist() == [0.4] * 3
    assert bench.command.array[1:3].tolist() == [[0.0] * 3] * 2
    assert bench.command.array[3:].tolist() == [[20.0] * 3, [2.0] * 3]
    assert bench.follower.progress.status is Status.HOLDING


def test_a_trajectory_is_followed_and_succeeds(bench: Any) -> None:
    goal = bench.planner.follow(NAMES, [Point(1.0, [0.5, -0.2, 0.0])], bench.now)
    bench.tick()
    assert bench.status(goal) is Status.ACTIVE
    bench.run(0.5)
    u = 0.5  # the closed form of the way of least jerk, 15/8 of the mean velocity in its middle
    assert bench.command.position == pytest.approx([0.5 * u, -0.2 * u, 0.0])
    assert bench.command.velocity == pytest.approx([0.5 * 15 / 8, -0.2 * 15 / 8, 0.0])
    bench.run(0.6)
    assert bench.command.position == pytest.approx([0.5, -0.2, 0.0])
    assert bench.status(goal) is Status.SUCCEEDED
    bench.refuse_steps()


def test_a_stamp_in_the_future_is_the_beginning(bench: Any) -> None:
    begin = bench.now + 0.3
    goal = bench.planner.follow(NAMES, [Point(1.0, [0.5, 0, 0])], bench.now, begin)
    bench.run(0.29)
    assert bench.command.position[0] == 0.0
    assert bench.status(goal) is Status.ACTIVE
    bench.run(0.51)
    assert bench.command.position[0] == pytest.approx(0.25)


def test_a_stamp_in_the_past_is_refused(bench: Any) -> None:
    with pytest.raises(MotionRefusedError, match=r"0\.5 s in the past") as refused:
        bench.planner.follow(NAMES, [Point(1.0, [0.5, 0, 0])], bench.now, bench.now - 0.5)
    assert refused.value.refusal is Refusal.OLD_HEADER_TIMESTAMP


def test_a_stamp_of_a_wrong_clock_is_refused(bench: Any) -> None:
    points = [Point(1.0, [0.5, 0, 0])]
    with pytest.raises(MotionRefusedError, match=r"header.stamp is 3.6e\+03 s in the future, exp"):
        bench.planner.follow(NAMES, points, bench.now, bench.now + 3600.0)
    assert bench.planner.follow(NAMES, points, bench.now, bench.now + 59.0)


def test_a_refused_goal_leaves_the_motion_as_it_is(bench: Any) -> None:
    goal = bench.move(joint_0=1.0)
    bench.run(0.2)
    with pytest.raises(MotionRefusedError):
        bench.planner.follow(NAMES, [Point(0.2, [-1.0, 0, 0])], bench.now)
    bench.run(2.0)
    assert bench.status(goal) is Status.SUCCEEDED
    assert bench.command.position[0] == pytest.approx(1.0)


def test_a_goal_that_replaces_a_motion_continues_it(bench: Any) -> None:
    first = bench.move(joint_0=1.5)
    bench.run(0.2)
    speed = bench.command.velocity[0]
    assert speed > 0.5
    second = bench.planner.follow(["joint_0"], [Point(2.5, [-0.5])], bench.now)
    bench.run(LEAD)
    assert bench.status(first) in (Status.ACTIVE, Status.PREEMPTED)
    assert bench.command.velocity[0] >= speed
    bench.run(2.7)
    assert bench.status(first) is Status.PREEMPTED
    assert bench.status(second) is Status.SUCCEEDED
    assert bench.command.position[0] == pytest.approx(-0.5)
    bench.refuse_steps()


def test_a_cancelled_goal_comes_to_rest_on_its_path(bench: Any) -> None:
    goal = bench.move(joint_0=1.5, joint_1=-0.75)
    bench.run(0.4)
    bench.planner.cancel(goal.number)
    bench.tick()
    assert bench.status(goal) is Status.ACTIVE  # until the joints rest
    bench.run(0.8)
    assert bench.status(goal) is Status.CANCELED
    assert 0.3 < bench.command.position[0] < 1.4
    assert bench.command.position[1] == pytest.approx(-0.5 * bench.command.position[0])
    assert bench.command.velocity.tolist() == [0.0] * 3
    bench.refuse_steps()


def test_a_move_that_is_repeated_as_it_arrives_changes_nothing(make_bench: Any) -> None:
    """The second one is planned for a time at which the joints rest: it has no length.

    Times of ticks are rounded: some of them come just before the time that was planned.
    """
    for ticks in range(80, 101):
        bench = make_bench()
        bench.move(1.0, joint_0=0.2)
        bench.tick(ticks)
        goal = bench.move(1.0, joint_0=0.2)
        bench.run(1.5)
        assert bench.status(goal) is Status.SUCCEEDED
        assert bench.command.position[0] == pytest.approx(0.2)
        bench.refuse_steps()


def test_a_goal_that_is_cancelled_while_its_path_pauses_ends_at_once(bench: Any) -> None:
    points = [Point(1.0, [0.5]), Point(60.0, [0.5]), Point(61.0, [0.0])]
    goal = bench.planner.follow(["joint_0"], points, bench.now)
    bench.run(5.0)
    bench.planner.cancel(goal.number)
    bench.tick(3)
    assert bench.status(goal) is Status.CANCELED
    assert bench.command.position[0] == pytest.approx(0.5)
    bench.move(0.0, joint_0=0.2)  # and the next one is taken
    bench.run(2.0)
    assert bench.command.position[0] == pytest.approx(0.2)
    bench.refuse_steps()


def test_the_next_goal_after_a_stop_is_taken(bench: Any) -> None:
    bench.move(joint_0=1.5)
    bench.run(0.6)
    bench.planner.cancel()
    bench.tick(2)
    with pytest.raises(MotionRefusedError, match="coming to rest"):
        bench.move(joint_0=0.0)
    bench.run(0.8)
    goal = bench.move(joint_0=0.0)
    bench.run(3.0)
    assert bench.status(goal) is Status.SUCCEEDED
    bench.refuse_steps()


def test_a_goal_that_waits_for_its_stamp_can_be_cancelled(bench: Any) -> None:
    begin = bench.now + 1.0
    goal = bench.planner.follow(NAMES, [Point(1.0, [0.5, 0, 0])], bench.now, begin)
    bench.tick()
    bench.planner.cancel(goal.number)
    bench.run(1.5)
    assert bench.status(goal) is Status.CANCELED
    assert bench.command.position[0] == 0.0


def test_a_stop_drops_a_goal_that_would_continue_the_motion(bench: Any) -> None:
    first = bench.move(joint_0=1.5)
    bench.run(0.3)
    second = bench.move(joint_0=-0.5)
    bench.tick()
    bench.planner.cancel(first.number)
    bench.run(3.0)
    assert bench.status(first) is Status.CANCELED
    assert bench.status(second) is Status.PREEMPTED
    bench.refuse_steps()


def test_a_stop_in_the_same_tick_comes_before_a_goal(bench: Any) -> None:
    first = bench.move(joint_0=1.5)
    bench.run(0.3)
    second = bench.move(joint_0=-0.5)
    bench.planner.cancel()
    bench.run(3.0)
    assert bench.status(first) is Status.CANCELED
    assert bench.status(second) is Status.OVERTAKEN
    bench.refuse_steps()


def test_a_stop_in_the_tick_of_a_goal_from_rest_stops_it(bench: Any) -> None:
    goal = bench.move(joint_0=1.5)
    bench.planner.cancel()
    bench.planner.cancel(goal.number + 1)  # of another client, in the same tick
    bench.run(1.0)
    assert bench.status(goal) is Status.CANCELED
    assert bench.command.position[0] == 0.0
    later = bench.move(joint_0=0.5)
    bench.run(3.0)
    assert bench.status(later) is Status.SUCCEEDED


def test_a_goal_that_was_planned_for_another_motion_is_refused(bench: Any) -> None:
    bench.move(joint_0=1.5)
    bench.run(0.2)
    planned = bench.move(joint_0=0.5)
    bench.move(joint_0=-0.5)
    bench.run(LEAD + 0.1)
    bench.follower.offer(replace(planned, begin=bench.now + 0.05))
    bench.run(3.0)
    assert bench.status(planned) is Status.OVERTAKEN
    assert bench.command.position[0] == pytest.approx(-0.5)
    bench.refuse_steps()


@pytest.mark.parametrize(
    ("duration", "passed", "leads"),
    [(0.0, 0.3, 2), (2.005, 2.01, 3)],
    ids=["the motion goes on", "the motion ends before the next tick"],
)
def test_a_goal_that_comes_too_late_to_continue_the_motion_is_refused(
    bench: Any, duration: float, passed: float, leads: int
) -> None:
    bench.move(joint_0=1.5, duration=duration)
    bench.run(passed)
    planned = bench.now - leads * LEAD  # the planner's thread was held up
    goal = bench.planner.follow(["joint_0"], [Point(2.0, [1.0])], planned)
    bench.run(3.0)
    assert bench.status(goal) is Status.OVERTAKEN
    assert bench.command.position[0] == pytest.approx(1.5)
    bench.refuse_steps()


def test_of_two_goals_in_one_tick_the_later_one_counts(bench: Any) -> None:
    first, second = bench.move(joint_0=1.0), bench.move(joint_0=-1.0)
    bench.run(3.0)
    assert bench.status(first) is Status.PREEMPTED
    assert bench.status(second) is Status.SUCCEEDED


def test_of_two_goals_in_one_tick_none_stays_open_if_the_later_one_is_refused(bench: Any) -> None:
    bench.move(joint_0=1.0)
    bench.run(0.2)
    first, second = bench.move(joint_0=-1.0), bench.move(joint_0=-0.5)
    bench.planner.cancel()
    bench.run(2.0)
    assert bench.status(second) is Status.OVERTAKEN
    assert bench.status(first) is Status.PREEMPTED


def test_a_goal_that_waits_for_its_stamp_outlasts_a_later_one_that_is_refused(bench: Any) -> None:
    bench.move(joint_0=1.5, duration=3.0)
    bench.run(0.2)
    waiting = bench.planner.follow(["joint_0"], [Point(2.0, [0.0])], bench.now, bench.now + 1.0)
    bench.tick()
    late = bench.planner.follow(["joint_0"], [Point(2.0, [1.0])], bench.now - 2 * LEAD)
    bench.tick()
    assert bench.status(late) is Status.OVERTAKEN
    assert bench.status(waiting) is Status.ACTIVE
    bench.run(4.0)
    assert bench.status(waiting) is Status.SUCCEEDED


def test_a_joint_away_from_its_path_stops_the_motion_and_is_named(make_bench: Any) -> None:
    bench = make_bench(constraints={"joint_1": {"trajectory": 0.1}})
    goal = bench.move(joint_0=1.5)
    bench.run(0.5)
    bench.offset[1] = 0.2
    bench.run(1.0)
    assert bench.status(goal) is Status.PATH_TOLERANCE_VIOLATED
    assert bench.text(goal) == "joint_1: 0.2 rad away, tolerance 0.1 rad"
    assert bench.command.position[0] < 1.4
    bench.refuse_steps()


def test_a_joint_that_does_not_arrive_violates_the_tolerance_of_the_goal(make_bench: Any) -> None:
    bench = make_bench(constraints={"goal_time": 0.5, "joint_1": {"goal": 0.1}})
    bench.offset[1] = -0.2
    goal = bench.move(joint_0=0.5)
    bench.run(goal.trajectory.duration + 0.4)
    assert bench.status(goal) is Status.ACTIVE
    bench.run(0.2)
    assert bench.status(goal) is Status.GOAL_TOLERANCE_VIOLATED
    assert "joint_1: 0.2 rad away, tolerance 0.1 rad" in bench.text(goal)


def test_a_joint_that_arrives_late_succeeds(make_bench: Any) -> None:
    bench = make_bench(constraints={"goal_time": 0.5, "joint_1": {"goal": 0.1}})
    bench.offset[1] = -0.2
    goal = bench.move(joint_0=0.5)
    bench.run(goal.trajectory.duration + 0.3)
    bench.offset[1] = 0.0
    bench.run(0.1)
    assert bench.status(goal) is Status.SUCCEEDED


def test_joints_that_still_move_at_the_end_have_not_arrived(bench: Any) -> None:
    goal = bench.move(joint_0=0.5)
    bench.run(goal.trajectory.duration + 0.1)
    assert bench.status(goal) is Status.SUCCEEDED
    goal = bench.move(joint_0=0.0)
    bench.run(goal.trajectory.duration - 0.05)
    for _ in range(20):
        bench.tick()
        bench.state.velocity[2] = 0.2
    assert bench.status(goal) is Status.ACTIVE


def test_deactivation_of_the_controller_ends_its_goals(bench: Any) -> None:
    goal = bench.move(joint_0=0.5)
    bench.run(0.3)
    progress = bench.follower.progress
    bench.controller.on_deactivate()
    assert bench.follower.progress is None
    with pytest.raises(MotionRefusedError, match="not in charge"):
        bench.move(joint_0=0.1)
    held = bench.command.position.copy()
    bench.activate()
    bench.tick(5)
    assert bench.command.position == pytest.approx(held)
    assert progress.of(goal.number)[0] is Status.ACTIVE
    assert bench.status(goal) is Status.ENDED


def test_a_goal_from_before_the_controller_was_in_charge_is_dropped(bench: Any) -> None:
    bench.move(joint_0=0.5)
    bench.controller.on_deactivate()
    bench.activate()
    bench.run(1.0)
    assert bench.command.position[0] == 0.0


@pytest.mark.parametrize(
    ("targets", "rest", "text"),
    [
        ({}, {}, "no joint is named"),
        ({"knee": 0.0}, {}, "unknown joint knee; known: joint_0"),
        ({"joint_1": float("nan")}, {}, "joint_1: position nan, expected a finite number"),
        ({"joint_1": 2.1}, {}, "joint_1: position 2.1 rad, allowed -2 to 2 rad"),
        ({"joint_1": 0.1}, {"duration": -1.0}, "duration -1.0, expected 0 or more"),
        ({"joint_1": 0.1}, {"speed": float("inf")}, "speed inf, expected 0 or more"),
    ],
)
def test_a_wrong_move_is_refused_by_name(bench: Any, targets: Any, rest: Any, text: str) -> None:
    with pytest.raises(MotionRefusedError, match=text):
        bench.move(**rest, **targets)


def test_a_move_takes_its_time_or_keeps_its_speed(bench: Any) -> None:
    assert bench.move(duration=3.0, joint_0=0.5).trajectory.duration == pytest.approx(3.0)
    slow = bench.move(speed=0.2, joint_0=0.5).trajectory
    assert slow.duration > 2.5
    assert np.abs([slow.at(t)[1, 0] for t in np.linspace(0, 3, 50)]).max() <= 0.2 + 1e-9


def test_limits_of_single_joints_take_the_place_of_the_general_ones(make_bench: Any) -> None:
    own = {"joint_1": {"max_velocity": 0.5, "max_acceleration": 1.0}, "joint_2": {"max_jerk": 5.0}}
    bench = make_bench(joint_limits=own)
    fast, slow, soft = (bench.move(**{name: 1.0}).trajectory for name in NAMES)
    states = [np.abs([slow.at(t) for t in np.linspace(0, 4, 400)])[:, row, 1] for row in (1, 2)]
    assert states[0].max() == pytest.approx(0.5)
    assert states[1].max() == pytest.approx(1.0)
    assert soft.duration > fast.duration


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"constraints": {"knee": {"goal": 0.1}}}, ConfigError),
        ({"joint_limits": {"knee": {"max_jerk": 1.0}}}, ConfigError),
        ({"command_interfaces": ["velocity"]}, ConfigError),
        ({"command_interfaces": ["effort"]}, ValidationError),
        ({"interpolation_method": "none"}, ValidationError),
        ({"gains": {"joint_0": {"p": 1.0}}}, ValidationError),
        ({"damping": None}, ConfigError),  # and the robot has no hold_damping
        ({"constraints": {"joint_0": {"path": 0.1}}}, ValidationError),
        ({"max_acceleration": 0.0}, ValidationError),
        ({"jog_timeout": 200.0}, ValidationError),  # in ms
        ({"constraints": {"goal_time": float("nan")}}, ValidationError),
    ],
)
def test_wrong_parameters_are_refused(make_bench: Any, changes: Any, error: Any) -> None:
    with pytest.raises(error):
        make_bench(**changes)


def test_gains_that_are_left_out_are_those_of_the_robot(facts: RobotFacts) -> None:
    controller = JointTrajectoryController()
    robot = replace(facts, hold_gains=ModeGains(15.0, 1.5))
    controller.on_configure(JointTrajectoryController.Parameters(stiffness=10.0), robot)
    assert controller.gains == (10.0, 1.5)


def test_velocity_is_commanded_only_where_it_acts(bench: Any, facts: RobotFacts) -> None:
    capabilities = np.full((5, 3), Capability.PER_TICK)
    capabilities[1, 1] = Capability.NEVER
    robot = RobotFacts(facts.joints, facts.limits, facts.update_rate, capabilities)
    raw = {"stiffness": 20.0, "damping": 2.0}
    bench.controller.on_configure(JointTrajectoryController.Parameters(**raw), robot)
    bench.activate()
    names = list(facts.joints.names)
    bench.controller.planner.follow(names, [Point(1.0, [0.1, 0.1, 0.1])], bench.now)
    bench.run(0.5)
    assert bench.command.velocity[1] == 0.0
    assert bench.command.velocity[0] > 0.1


def request(time: float = 0.0, **fields: Any) -> SimpleNamespace:
    """The tolerances of a goal of FollowJointTrajectory; each is one of joint_1."""
    whole = SimpleNamespace(
        path_tolerance=[],
        goal_tolerance=[],
        component_path_tolerance=[],
        component_goal_tolerance=[],
        multi_dof_trajectory=SimpleNamespace(joint_names=[], points=[]),
        goal_time_tolerance=SimpleNamespace(sec=floor(time), nanosec=round(time % 1 * 1e9)),
    )
    for key, values in fields.items():
        tolerance = {"name": "joint_1", "position": 0.0, "velocity": 0.0, "acceleration": 0.0}
        setattr(whole, key, [SimpleNamespace(**tolerance | values)])
    return whole


@pytest.fixture
def strict(make_bench: Any) -> Any:
    """A controller with tolerances: on the way 0.3, at the end 0.1 rad and 0.1 rad/s, in 2 s."""
    return make_bench(constraints={"goal_time": 2.0, "joint_1": {"trajectory": 0.3, "goal": 0.1}})


@pytest.mark.parametrize(
    ("asked", "expected"),
    [  # on the way, at the end, velocity at the end, time
        (request(), (0.3, 0.1, 0.1, 2.0)),
        (request(5.5), (0.3, 0.1, 0.1, 5.5)),
        (request(-1.0), (0.3, 0.1, 0.1, 0.0)),
        (request(path_tolerance={"position": 0.2}), (0.2, 0.1, 0.1, 2.0)),
        (request(goal_tolerance={"position": -1.0}), (0.3, inf, 0.1, 2.0)),
        (request(goal_tolerance={"velocity": 0.05}), (0.3, 0.1, 0.05, 2.0)),
        (request(goal_tolerance={"velocity": -1.0}), (0.3, 0.1, inf, 2.0)),
        (request(path_tolerance={"velocity": -1.0, "acceleration": -1.0}), (0.3, 0.1, 0.1, 2.0)),
    ],
)
def test_the_tolerances_of_a_goal_take_the_place_of_the_controllers(
    strict: Any, asked: Any, expected: tuple[float, ...]
) -> None:
    controller = strict.controller
    found = goal_tolerances(asked, controller.tolerances, controller.joints)
    assert (found.path[1], found.goal[1], found.velocity[1], found.goal_time) == expected
    others = goal_tolerances(request(), controller.tolerances, controller.joints)
    assert others.velocity.tolist() == [0.1] * 3


@pytest.mark.parametrize(
    "asked",
    [
        request(-7.0),
        request(-0.5),
        request(path_tolerance={"name": "knee"}),
        request(path_tolerance={"position": nan}),
        request(path_tolerance={"velocity": 0.05}),
        request(path_tolerance={"acceleration": 0.3}),
        request(goal_tolerance={"acceleration": 0.3}),
        request(goal_tolerance={"velocity": -0.5}),
        request(component_path_tolerance={}),
        request(component_goal_tolerance={}),
    ],
)
def test_a_tolerance_of_a_goal_that_would_not_act_is_refused(strict: Any, asked: Any) -> None:
    with pytest.raises(MotionRefusedError):
        goal_tolerances(asked, strict.controller.tolerances, strict.controller.joints)
