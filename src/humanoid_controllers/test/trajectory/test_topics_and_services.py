"""The topics and services of the trajectory controller, over real messages."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from humanoid_control_msgs.msg import JointJog, TrajectoryState
from humanoid_control_msgs.srv import FollowTrajectory, MoveJoints
from std_srvs.srv import Trigger
from test_support.lone_node import LoneNode
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_control_common.machine.linux import LinuxMachine
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controllers.trajectory.ros import TrajectoryRosSide, attach_trajectory
from humanoid_motion.trajectory.points import MOST_POINTS

STAMPED = 1000  # [s], the ROS time of every tick


class LateMachine(LinuxMachine):
    """Messages are looked at late: the system's time is ahead of their sending."""

    late = 0  # [ns]

    def system_time_ns(self) -> int:
        return super().system_time_ns() + self.late


class Side(LoneNode):
    """The controller with its ROS side; the test ticks the loop."""

    def __init__(self, bench: Any) -> None:
        super().__init__("trajectory_controller")
        self.bench = bench
        robot = SimpleNamespace(joints=JointSet(bench.controller.joints.names))
        self.machine = LateMachine()
        context = PluginContext(
            self.node,
            robot,
            lambda: self.bench.now,
            lambda _: STAMPED * 1_000_000_000,
            machine=self.machine,
        )
        self._listener = attach_trajectory(context, bench.controller)
        self.states: list[TrajectoryState] = []
        create = self.node.create_subscription
        create(TrajectoryState, "~/state", self.states.append, LATCHED)
        self.trajectories = self.node.create_publisher(JointTrajectory, "~/joint_trajectory", 10)
        self.jogs = self.node.create_publisher(JointJog, "~/jog", 10)
        self.tick()
        self.spin_until(lambda: self.trajectories.get_subscription_count() > 0)
        self.spin_until(lambda: self.jogs.get_subscription_count() > 0)

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.bench.tick()
            self._listener(SimpleNamespace(now=self.bench.now))

    def leaves(self, mode: Mode, controller: str) -> None:
        """Another controller is in charge."""
        self.bench.controller.on_deactivate()
        self._listener(SimpleNamespace(now=self.bench.now, mode=mode, controller=controller))

    def state(self, condition: Any) -> TrajectoryState:
        self.spin_until(lambda: any(condition(it) for it in self.states))
        return next(it for it in reversed(self.states) if condition(it))


@pytest.fixture
def side(bench: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Side]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    side = Side(bench)
    yield side
    side.close()


def test_a_refusal_is_logged_again_after_a_motion_was_accepted(bench: Any) -> None:
    lines: list[str] = []
    node = SimpleNamespace(
        get_logger=lambda: SimpleNamespace(warning=lines.append), create_publisher=lambda *_: None
    )
    context = PluginContext(node, None, lambda: bench.now, lambda _: 0)  # type: ignore[arg-type]
    ros = TrajectoryRosSide(context, bench.controller)
    for position in (9.0, 9.0, 0.5, 9.0):
        ros.on_trajectory(_trajectory(position), {"received_timestamp": 0, "source_timestamp": 0})
        bench.run(2.0)
    assert len(lines) == 2
    assert lines[0] == lines[1]


def _trajectory(position: float = 0.5, stamp: int = 0) -> JointTrajectory:
    duration = Duration(sec=1, nanosec=500_000_000)
    point = JointTrajectoryPoint(positions=[position], time_from_start=duration)
    message = JointTrajectory(joint_names=["joint_1"], points=[point])
    message.header.stamp = Time(sec=stamp)
    return message


def test_a_trajectory_on_the_topic_is_followed_and_its_end_published(side: Side) -> None:
    side.trajectories.publish(_trajectory())
    side.spin_until(lambda: bool(side.bench.follower._offered._slot))
    side.tick(160)
    assert side.bench.command.position == pytest.approx([0.0, 0.5, 0.0])
    state = side.state(lambda it: it.status == TrajectoryState.SUCCEEDED)
    assert (state.goal, state.message, state.refusal) == (1, "", "")
    assert state.duration == pytest.approx(1.5)
    assert list(state.joint_names) == ["joint_0", "joint_1", "joint_2"]


def test_a_refusal_on_the_topic_is_published(side: Side) -> None:
    side.trajectories.publish(_trajectory(9.0))
    side.spin_until(lambda: side.tick() or any(it.refusal for it in side.states))
    assert "joint_1: position 9 rad" in side.states[-1].refusal
    side.tick(50)
    assert not side.bench.command.position.any()


def test_a_trajectory_with_an_effort_that_would_not_act_is_refused(side: Side) -> None:
    message = _trajectory()
    message.points[0].effort = [2.0]
    answer = side.call(FollowTrajectory, "follow", FollowTrajectory.Request(trajectory=message))
    assert (answer.success, answer.message) == (
        False,
        "point 0: effort, expected none: it would not act",
    )


def test_the_longest_trajectory_is_decoded_and_a_much_longer_one_is_not(side: Side) -> None:
    point = JointTrajectoryPoint(positions=[0.1] * 3, velocities=[0.0] * 3)
    point.accelerations, point.effort = point.velocities, point.velocities
    names = ["joint_0", "joint_1", "joint_2"]
    longest = JointTrajectory(joint_names=names, points=[point] * MOST_POINTS)
    side.trajectories.publish(longest)
    side.spin_until(lambda: side.tick() or any(it.refusal for it in side.states))
    assert "point 0: time_from_start" in side.states[-1].refusal or (
        "point 1: time_from_start" in side.states[-1].refusal
    )
    side.trajectories.publish(JointTrajectory(joint_names=names, points=[point] * 2 * MOST_POINTS))
    side.spin_until(lambda: side.tick() or "JointTrajectory" in side.states[-1].refusal)
    assert "at most; 1 refused" in side.states[-1].refusal
    side.trajectories.publish(_trajectory())
    side.spin_until(lambda: side.tick() or side.states[-1].status == TrajectoryState.SUCCEEDED)
    assert side.states[-1].refusal == ""


def test_a_jog_of_many_joints_is_not_decoded(side: Side) -> None:
    side.jogs.publish(JointJog(joint_names=["joint_0"] * 1000, velocities=[0.1] * 1000))
    side.spin_until(lambda: side.tick() or any(it.refusal for it in side.states))
    assert "a JointJog of" in side.states[-1].refusal


def test_a_stamp_counts_from_the_time_of_the_ticks(side: Side) -> None:
    answer = side.call(
        FollowTrajectory, "follow", FollowTrajectory.Request(trajectory=_trajectory(0.5, 1001))
    )
    assert answer.success
    side.tick(99)
    assert not side.bench.command.position.any()
    side.tick(76)
    assert side.bench.command.position[1] == pytest.approx(0.25, abs=0.01)


def test_a_stamp_in_the_past_is_refused_with_the_reason(side: Side) -> None:
    request = FollowTrajectory.Request(trajectory=_trajectory(0.5, 999))
    answer = side.call(FollowTrajectory, "follow", request)
    assert not answer.success
    assert answer.goal == 0
    assert "1 s in the past" in answer.message


def test_a_move_is_answered_with_its_duration_and_stopped(side: Side) -> None:
    request = MoveJoints.Request(joint_names=["joint_0"], positions=[1.0], duration=4.0)
    answer = side.call(MoveJoints, "move", request)
    assert (answer.success, answer.goal, answer.message) == (True, 1, "")
    assert answer.duration == pytest.approx(4.0)
    side.tick(100)
    assert side.call(Trigger, "stop", Trigger.Request()).success
    side.tick(100)
    assert side.state(lambda it: it.status == TrajectoryState.CANCELED).message == "on request"
    assert 0.1 < side.bench.command.position[0] < 0.9


@pytest.mark.parametrize(
    ("names", "values", "text"),
    [
        (["joint_0"], [], "0 values, expected one for each of 1 joints"),
        (["joint_0", "joint_0"], [0.0, 0.0], "a joint is named twice"),
        (["knee"], [0.0], "unknown joint knee"),
        (["joint_0"], [np.nan], "joint_0: position nan"),
    ],
)
def test_a_wrong_move_is_answered_with_the_reason(
    side: Side, names: list[str], values: list[float], text: str
) -> None:
    answer = side.call(MoveJoints, "move", MoveJoints.Request(joint_names=names, positions=values))
    assert not answer.success
    assert text in answer.message


def test_a_jog_moves_until_the_messages_end(side: Side) -> None:
    for _ in range(10):
        side.jogs.publish(JointJog(joint_names=["joint_2"], velocities=[0.5]))
        side.spin_until(
            lambda: bool(side.bench.follower._offered._slot or side.bench.follower._kept._slot)
        )
        side.tick(5)
    assert side.bench.command.velocity[2] == pytest.approx(0.5)
    side.tick(50)
    assert not side.bench.command.velocity.any()
    assert side.bench.command.position[2] > 0.1


def test_a_jog_that_was_held_back_on_its_way_moves_nothing(side: Side) -> None:
    """As after a lost connection that comes back: the key may have been released meanwhile."""
    side.jogs.publish(JointJog(joint_names=["joint_2"], velocities=[0.5]))
    side.spin_until(lambda: bool(side.bench.follower._offered._slot))
    side.tick(100)
    rested = side.bench.command.position[2]
    side.machine.late = 300_000_000
    for _ in range(10):
        side.jogs.publish(JointJog(joint_names=["joint_2"], velocities=[0.5]))
    side.spin_until(lambda: side.tick() or any(it.refusal for it in side.states))
    side.tick(50)
    assert side.bench.command.position[2] == rested
    assert "s late, expected 0.2 s at most" in side.states[-1].refusal


def test_a_trajectory_for_now_that_was_held_back_on_its_way_moves_nothing(side: Side) -> None:
    """It was given up long ago, perhaps. One with a stamp ahead is what its sender planned."""
    side.trajectories.publish(_trajectory(0.5))
    side.spin_until(lambda: bool(side.bench.follower._offered._slot))
    side.tick(200)
    side.machine.late = 600_000_000
    side.trajectories.publish(_trajectory(0.9))
    side.spin_until(lambda: side.tick() or bool(side.states[-1].refusal))
    side.tick(200)
    assert side.bench.command.position[1] == pytest.approx(0.5)
    assert "a trajectory came 0.6" in side.states[-1].refusal
    side.trajectories.publish(_trajectory(0.9, STAMPED + 1))
    side.spin_until(lambda: side.tick() or side.bench.command.position[1] > 0.8)


def test_the_delay_of_a_sender_is_known_from_its_trajectories_in_other_modes(side: Side) -> None:
    def refused(why: str) -> bool:
        return any(why in it.refusal for it in side.states)

    def in_damping() -> None:
        side.leaves(Mode.DAMPING, "damping_controller")

    in_damping()
    side.trajectories.publish(_trajectory())
    side.spin_until(lambda: in_damping() or refused("not in charge"))
    side.bench.activate()
    side.machine.late = 600_000_000
    side.trajectories.publish(_trajectory())
    side.spin_until(lambda: side.tick() or refused("a trajectory came 0.6"))


@pytest.mark.parametrize(
    ("mode", "controller", "remedy"),
    [
        (Mode.DAMPING, "damping_controller", "`hc mode remote` first"),
        (
            Mode.REMOTE,
            "teach_controller",
            "REMOTE is teach_controller; `hc mode damp`, `hc load tr",
        ),
    ],
)
def test_the_state_reports_that_the_controller_is_not_in_charge(
    side: Side, mode: Mode, controller: str, remedy: str
) -> None:
    side.leaves(mode, controller)
    state = side.state(lambda it: it.status == TrajectoryState.ENDED)
    assert f"the controller is not in charge: {remedy}" in state.message
    answer = side.call(
        MoveJoints, "move", MoveJoints.Request(joint_names=["joint_0"], positions=[0.1])
    )
    assert f"the controller is not in charge: {remedy}" in answer.message


def test_a_controller_that_is_in_charge_again_holds_whatever_ended_with_its_mode(
    side: Side,
) -> None:
    request = MoveJoints.Request(joint_names=["joint_0"], positions=[1.0], duration=4.0)
    side.call(MoveJoints, "move", request)
    side.tick(100)
    side.leaves(Mode.DAMPING, "damping_controller")
    side.state(lambda it: it.status == TrajectoryState.ENDED)
    side.states.clear()
    side.bench.activate()
    side.tick(2)
    side.spin_until(lambda: bool(side.states))
    assert (side.states[-1].status, side.states[-1].goal) == (TrajectoryState.HOLDING, 0)
