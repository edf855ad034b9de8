"""The action follow_joint_trajectory and the topic controller_state, for upstream's clients."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from test_support.lone_node import LoneNode

pytest.importorskip(
    "control_msgs.action", reason="control_msgs is not installed: the action is not served here"
)
from action_msgs.msg import GoalStatus
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from rclpy.action import ActionClient
from trajectory_msgs.msg import (
    JointTrajectory,
    JointTrajectoryPoint,
    MultiDOFJointTrajectory,
    MultiDOFJointTrajectoryPoint,
)

from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.topics.message_template import nanoseconds
from humanoid_controllers.trajectory.ros import attach_trajectory

Result = FollowJointTrajectory.Result
STATE_RATE, PERIOD = 5.0, 0.011  # [Hz], [s] a little more than a tick


class Client(LoneNode):
    """The controller with its action, and a client of it; the test ticks the loop."""

    def __init__(self, bench: Any) -> None:
        super().__init__("trajectory_controller")
        self.bench = bench
        robot = SimpleNamespace(joints=bench.controller.joints)
        context = PluginContext(
            self.node, robot, lambda: bench.now, lambda tick: round(tick.now * 1e9)
        )
        self._listener = attach_trajectory(context, bench.controller)
        name = "~/follow_joint_trajectory"
        self._action = ActionClient(self.node, FollowJointTrajectory, name)
        self.feedback: list[Any] = []
        self.tick()
        self.spin_until(self._action.server_is_ready)

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.bench.tick()
            arrays = self.bench.state.array.copy(), self.bench.command.array.copy()
            tick = SimpleNamespace(
                now=self.bench.now,
                state_array=arrays[0],
                command_array=arrays[1],
                compensation=None,
            )
            self._listener(tick)

    def send(self, position: float = 0.5, **fields: Any) -> Any:
        point = JointTrajectoryPoint(positions=[position], time_from_start=Duration(sec=1))
        fields.setdefault("trajectory", JointTrajectory(joint_names=["joint_1"], points=[point]))
        goal = FollowJointTrajectory.Goal(**fields)
        sent = self._action.send_goal_async(goal, lambda it: self.feedback.append(it.feedback))
        self.spin_until(sent.done)
        return sent.result()

    def result(self, handle: Any) -> Any:
        """The status and the result of a goal; the loop goes on meanwhile."""
        asked = handle.get_result_async()
        self.spin_until(lambda: self.tick() or asked.done())
        return asked.result().status, asked.result().result

    def close(self) -> None:
        self._action.destroy()
        super().close()


@pytest.fixture
def client(make_bench: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    client = Client(make_bench(state_publish_rate=STATE_RATE))
    yield client
    client.close()


def test_a_goal_succeeds_with_feedback_on_its_way(client: Client) -> None:
    handle = client.send()
    assert handle.accepted
    client.tick(50)
    client.spin_until(lambda: bool(client.feedback))
    assert list(client.feedback[0].joint_names) == ["joint_0", "joint_1", "joint_2"]
    assert client.feedback[0].desired.positions[1] == pytest.approx(0.25, abs=0.02)
    status, result = client.result(handle)
    assert status == GoalStatus.STATUS_SUCCEEDED
    assert result.error_code == Result.SUCCESSFUL
    assert client.bench.command.position[1] == pytest.approx(0.5)


def test_a_cancelled_goal_is_canceled_once_the_joints_rest(client: Client) -> None:
    handle = client.send()
    client.tick(50)
    cancelled = handle.cancel_goal_async()
    client.spin_until(cancelled.done)
    assert cancelled.result().goals_canceling
    status, _ = client.result(handle)
    assert status == GoalStatus.STATUS_CANCELED
    assert 0.2 < client.bench.command.position[1] < 0.45
    assert not client.bench.command.velocity.any()


def test_a_goal_that_is_replaced_is_aborted(client: Client) -> None:
    first = client.send(0.5)
    client.tick(10)
    second = client.send(0.2)
    assert second.accepted
    status, result = client.result(first)
    assert status == GoalStatus.STATUS_ABORTED
    assert "another goal came" in result.error_string
    assert client.result(second)[0] == GoalStatus.STATUS_SUCCEEDED


def test_a_goal_with_a_tolerance_of_its_own_is_aborted_beyond_it(client: Client) -> None:
    handle = client.send(path_tolerance=[JointTolerance(name="joint_2", position=0.1)])
    client.tick(20)
    client.bench.offset[2] = 0.2
    status, result = client.result(handle)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == Result.PATH_TOLERANCE_VIOLATED
    assert result.error_string == "joint_2: 0.2 rad away, tolerance 0.1 rad"


def test_a_goal_that_is_not_reached_in_its_time_is_aborted(client: Client) -> None:
    client.bench.offset[1] = -0.2
    handle = client.send(
        goal_tolerance=[JointTolerance(name="joint_1", position=0.1)],
        goal_time_tolerance=Duration(nanosec=300_000_000),
    )
    status, result = client.result(handle)
    assert status == GoalStatus.STATUS_ABORTED
    assert result.error_code == Result.GOAL_TOLERANCE_VIOLATED


def test_a_tolerance_of_minus_1_switches_that_of_the_controller_off(
    make_bench: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    client = Client(make_bench(constraints={"joint_2": {"trajectory": 0.1}}))
    client.bench.offset[2] = 0.2
    handle = client.send(path_tolerance=[JointTolerance(name="joint_2", position=-1.0)])
    assert client.result(handle)[0] == GoalStatus.STATUS_SUCCEEDED
    client.close()


@pytest.mark.parametrize(
    "fields",
    [
        {"position": 9.0},
        {"path_tolerance": [JointTolerance(name="knee", position=0.1)]},
        {"goal_tolerance": [JointTolerance(name="joint_1", position=-0.5)]},
        {"path_tolerance": [JointTolerance(name="joint_1", position=np.nan)]},
        {"multi_dof_trajectory": MultiDOFJointTrajectory(points=[MultiDOFJointTrajectoryPoint()])},
    ],
)
def test_a_wrong_goal_is_rejected_and_nothing_moves(client: Client, fields: Any) -> None:
    assert not client.send(**fields).accepted
    client.tick(50)
    assert not client.bench.command.position.any()


def test_a_goal_ends_when_the_controller_is_left(client: Client) -> None:
    handle = client.send()
    client.tick(20)
    client.bench.controller.on_deactivate()
    asked = handle.get_result_async()
    client.spin_until(asked.done)
    assert asked.result().status == GoalStatus.STATUS_ABORTED
    assert "no longer in charge" in asked.result().result.error_string


def test_the_state_has_what_upstreams_panel_reads(client: Client) -> None:
    found: list[Any] = []
    topic = "~/controller_state"
    client.node.create_subscription(JointTrajectoryControllerState, topic, found.append, 10)
    client.spin_until(lambda: client.tick() or bool(found))
    assert list(found[0].joint_names) == ["joint_0", "joint_1", "joint_2"]
    assert list(found[0].feedback.positions) == [0.0] * 3
    assert list(found[0].reference.positions) == [0.0] * 3
    client.spin_until(lambda: client.tick() or len(found) > 1)
    first, second = (it.header.stamp for it in found[:2])
    passed = nanoseconds(second) - nanoseconds(first)
    assert passed == pytest.approx(1e9 / STATE_RATE, abs=1e9 * PERIOD)
