"""The action `~/follow_joint_trajectory` and the topic `~/controller_state`.

This is the only module of the package that imports control_msgs, which may be absent. A goal stays
"accepted" until its motion has ended, and is executed then: a waiting coroutine would keep rclpy's
executor busy all the time.
"""

from functools import partial
from typing import Any, Final

import numpy as np
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from trajectory_msgs.msg import JointTrajectoryPoint

from humanoid_control_common.middleware.steady_timer import create_steady_timer
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_controllers.trajectory.goal import Goal, Progress, Status, goal_tolerances
from humanoid_controllers.trajectory.ros import TrajectoryRosSide

_CODES: Final = {
    Status.SUCCEEDED: FollowJointTrajectory.Result.SUCCESSFUL,
    Status.CANCELED: FollowJointTrajectory.Result.SUCCESSFUL,  # as upstream
    Status.PATH_TOLERANCE_VIOLATED: FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED,
    Status.GOAL_TOLERANCE_VIOLATED: FollowJointTrajectory.Result.GOAL_TOLERANCE_VIOLATED,
    Status.LINKS_TOO_NEAR: FollowJointTrajectory.Result.PATH_TOLERANCE_VIOLATED,
}


class TrajectoryAction:
    """Serves the action; all in the executor's thread."""

    def __init__(
        self, context: PluginContext, controller: JointTrajectoryController, side: TrajectoryRosSide
    ) -> None:
        self._context = context
        self._controller = controller
        self._side = side
        self._planned: Goal | None = None  # accepted by `_on_goal`, for `_on_accepted`
        self._open: list[tuple[Any, int]] = []  # rclpy's handles, and numbers of goals
        node = context.node
        self._server = ActionServer(
            node,
            FollowJointTrajectory,
            "~/follow_joint_trajectory",
            execute_callback=_never,
            goal_callback=self._on_goal,
            handle_accepted_callback=self._on_accepted,
            cancel_callback=self._on_cancel,
        )
        self._timer = create_steady_timer(node, controller.action_period, self._update_goals)
        self._timer.cancel()

    def _on_goal(self, request: Any) -> GoalResponse:
        self._planned = self._side.try_plan(lambda: self._plan(request))
        return GoalResponse.REJECT if self._planned is None else GoalResponse.ACCEPT

    def _plan(self, request: Any) -> Goal:
        own = goal_tolerances(request, self._controller.tolerances, self._controller.joints)
        return self._side.follow(request.trajectory, own)

    def _on_accepted(self, handle: Any) -> None:
        assert self._planned is not None
        self._open.append((handle, self._planned.number))
        self._timer.reset()

    def _on_cancel(self, handle: Any) -> CancelResponse:
        for known, number in self._open:
            if known.goal_id == handle.goal_id:
                self._controller.planner.cancel(number)
        return CancelResponse.ACCEPT

    def _update_goals(self) -> None:
        """End the goals whose motions have ended; publish feedback of the others."""
        progress = self._controller.follower.progress
        left = []
        for handle, number in self._open:
            status, text = _state_of(progress, number)
            if status is Status.ACTIVE:
                left.append((handle, number))
                if progress is not None and progress.goal.number == number:
                    handle.publish_feedback(self._feedback())
            else:
                handle.execute(partial(_end, status, text))
        self._open = left
        if not left:
            self._timer.cancel()

    def _feedback(self) -> FollowJointTrajectory.Feedback:
        snapshot = self._side.snapshot
        message = FollowJointTrajectory.Feedback(joint_names=list(self._controller.joints.names))
        if snapshot is not None:
            message.header.stamp = self._context.stamp(snapshot)
            message.desired, message.actual, message.error = _points(snapshot)
        return message


class ControllerState:
    """Publishes `~/controller_state` while it has a subscriber; in the publisher's thread."""

    def __init__(self, context: PluginContext, controller: JointTrajectoryController) -> None:
        create = context.node.create_publisher
        self._follower, self._period = controller.follower, controller.state_period
        self._topic = create(JointTrajectoryControllerState, "~/controller_state", 10)
        self._names = list(context.robot.joints.names)
        self._stamp = context.stamp
        self._at = -np.inf  # [s] of the latest one

    def publish(self, snapshot: Snapshot) -> None:
        """Publish the state after a tick, if it is due."""
        if snapshot.now - self._at < self._period or self._topic.get_subscription_count() == 0:
            return
        self._at = snapshot.now
        message = JointTrajectoryControllerState(joint_names=self._names)
        message.header.stamp = self._stamp(snapshot)
        message.reference, message.feedback, message.error = _points(snapshot)
        message.output = message.reference
        progress = self._follower.progress
        message.speed_scaling_factor = 1.0 if progress is None else progress.rate
        self._topic.publish(message)


def _state_of(progress: Progress | None, number: int) -> tuple[Status, str]:
    if progress is None:
        return Status.ENDED, "the controller is no longer in charge"
    return progress.of(number)


def _end(status: Status, text: str, handle: Any) -> FollowJointTrajectory.Result:
    """Set the end of a goal; return its result."""
    if status is Status.SUCCEEDED:
        handle.succeed()
    elif status is Status.CANCELED and handle.is_cancel_requested:
        handle.canceled()
    else:
        handle.abort()
    code = _CODES.get(status, FollowJointTrajectory.Result.INVALID_GOAL)
    return FollowJointTrajectory.Result(error_code=code, error_string=text)


def _never(handle: Any) -> FollowJointTrajectory.Result:
    raise AssertionError("goals are executed with a callback of their own")


def _points(snapshot: Snapshot) -> list[Any]:
    """Return commanded and measured positions and velocities, and their difference."""
    commanded, measured = snapshot.command_array[:2].copy(), snapshot.state_array[:2]
    if snapshot.compensation is not None:  # no part of the motion
        commanded[0] -= snapshot.compensation[0]
    return [
        JointTrajectoryPoint(positions=rows[0].tolist(), velocities=rows[1].tolist())
        for rows in (commanded, measured, commanded - measured)
    ]
