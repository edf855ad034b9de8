"""The ROS side of the trajectory controller: topics and services."""

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, Final

from builtin_interfaces.msg import Duration, Time
from humanoid_control_msgs.msg import JointJog, TrajectoryState
from humanoid_control_msgs.srv import FollowTrajectory, MoveJoints
from rclpy.node import Node
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from humanoid_control_common.log_on_change import LogOnChange
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_controller_manager.loop.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.topics.bounded_topic import (
    BoundedTopic,
    MessageRefusedError,
    message_size,
    refusal_log,
)
from humanoid_controller_manager.ros.topics.message_age import LATEST, MessageAge, MessageInfo
from humanoid_controller_manager.ros.topics.message_template import nanoseconds
from humanoid_controllers.trajectory.controller import JointTrajectoryController
from humanoid_controllers.trajectory.goal import Goal, Progress, Status, Tolerances
from humanoid_controllers.trajectory.planner import NOT_IN_CHARGE
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.points import MOST_POINTS, Point

MESSAGES: Final = "control_msgs"
PERIOD: Final = 0.1  # [s] between two states while a goal is active
ARRAYS: Final = 4  # of a point: positions, velocities, accelerations, effort


def attach_trajectory(
    context: PluginContext, controller: JointTrajectoryController
) -> SnapshotListener:
    """Offer `~/joint_trajectory`, `~/jog`, `~/follow`, `~/move`, `~/stop`; publish `~/state`.

    Where control_msgs is installed: upstream's action and state, see `action`.
    """
    side = TrajectoryRosSide(context, controller)
    node = context.node
    count, refuse = len(controller.joints), side.on_refused
    largest = message_size(names=count, numbers=count)
    BoundedTopic(JointJog, largest, side.on_jog, refuse).subscribe(node, "~/jog", 10)
    largest = trajectory_size(count)
    trajectories = BoundedTopic(JointTrajectory, largest, side.on_trajectory, refuse)
    trajectories.subscribe(node, "~/joint_trajectory", 10)
    node.create_service(FollowTrajectory, "~/follow", side.on_follow)
    node.create_service(MoveJoints, "~/move", side.on_move)
    node.create_service(Trigger, "~/stop", side.on_stop)
    if not isinstance(node, Node):  # the stepped robot has no actions
        return side.publish
    if find_spec(MESSAGES) is None:
        node.get_logger().info(
            f"no action follow_joint_trajectory and no controller_state: {MESSAGES} is not "
            "installed (see docs/build.md). Topic and services are available"
        )
        return side.publish
    return _with_action(context, controller, side)


def _with_action(
    context: PluginContext, controller: JointTrajectoryController, side: "TrajectoryRosSide"
) -> SnapshotListener:
    from humanoid_controllers.trajectory.action import ControllerState, TrajectoryAction

    TrajectoryAction(context, controller, side)  # the node keeps it
    state = ControllerState(context, controller)

    def publish(snapshot: Snapshot) -> None:
        side.publish(snapshot)
        state.publish(snapshot)

    return publish


class TrajectoryRosSide:
    """Callbacks in the executor's thread, which plan; `publish` in the publisher's thread."""

    def __init__(self, context: PluginContext, controller: JointTrajectoryController) -> None:
        self._context = context
        self._planner = controller.planner
        self._follower = controller.follower
        self._jog_timeout = controller.jog_timeout
        self._jog_age, self._trajectory_age = MessageAge(), MessageAge()
        self._warn_once = LogOnChange(context.node.get_logger().warning)
        self._log_refusal = refusal_log(context.node, "motion refused")
        self._refusal = ""  # of the latest request
        self.snapshot: Snapshot | None = None  # the latest
        self._states = context.node.create_publisher(TrajectoryState, "~/state", LATCHED)
        self._published: tuple[Any, ...] = ()
        self._published_at = 0.0  # [s], the loop's time

    def on_trajectory(self, message: JointTrajectory, info: MessageInfo) -> None:
        """Follow a trajectory; not one for now that an interrupted connection kept.

        A refusal is logged.
        """
        late = self._trajectory_age.late_by(info, self._context)

        def follow() -> Goal:
            if nanoseconds(message.header.stamp) == 0:
                _refuse_late("trajectory", late, LATEST)
            return self.follow(message)

        self.try_plan(follow)

    def on_jog(self, message: JointJog, info: MessageInfo) -> None:
        """Move while such messages arrive; not for one that an interrupted connection kept."""
        now = self._context.now()
        late = self._jog_age.late_by(info, self._context)

        def jog() -> Goal:
            _refuse_late("jog message", late, self._jog_timeout)
            return self._planner.jog(_by_name(message.joint_names, message.velocities), now)

        self.try_plan(jog)

    def on_refused(self, error: MessageRefusedError) -> None:
        """Note a message that was not decoded; log it with their count."""
        self._refusal = str(error)
        self._log_refusal(error)

    def on_follow(
        self, request: FollowTrajectory.Request, response: FollowTrajectory.Response
    ) -> FollowTrajectory.Response:
        """Follow a trajectory, and answer."""
        goal = self.try_plan(lambda: self.follow(request.trajectory))
        response.success, response.message = goal is not None, self._refusal
        response.goal = goal.number if goal else 0
        return response

    def on_move(
        self, request: MoveJoints.Request, response: MoveJoints.Response
    ) -> MoveJoints.Response:
        """Move to positions."""
        now = self._context.now()

        def move() -> Goal:
            targets = _by_name(request.joint_names, request.positions)
            return self._planner.move(targets, now, request.duration, request.speed)

        goal = self.try_plan(move)
        response.success, response.message = goal is not None, self._refusal
        if goal is not None:
            response.goal, response.duration = goal.number, goal.trajectory.duration
        return response

    def on_stop(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Stop along the path."""
        self._planner.cancel()
        response.success = True
        response.message = "stops along the path"
        return response

    def follow(self, message: JointTrajectory, tolerances: Tolerances | None = None) -> Goal:
        """Plan and offer a received trajectory. Raises MotionRefusedError."""
        for i, point in enumerate(message.points):
            if any(point.effort):
                raise MotionRefusedError(f"point {i}: effort, expected none: it would not act")
        points = [
            Point(seconds(it.time_from_start), it.positions, it.velocities, it.accelerations)
            for it in message.points
        ]
        begin = self._begin(message.header.stamp)
        now = self._context.now()
        return self._planner.follow(message.joint_names, points, now, begin, tolerances)

    def publish(self, snapshot: Snapshot) -> None:
        """Publish the state of the motion if it is due."""
        self.snapshot = snapshot
        progress = self._follower.progress
        key = self._key(progress)
        due = snapshot.now - self._published_at >= PERIOD and key[1] is Status.ACTIVE
        if not due and key == self._published:
            return
        self._published, self._published_at = key, snapshot.now
        message = TrajectoryState(
            joint_names=list(self._context.robot.joints.names),
            goal=key[0],
            status=int(key[1]),
            message=key[2],
            refusal=key[3],
        )
        if progress is not None:
            message.time = progress.time
            message.duration = progress.goal.trajectory.duration
        message.header.stamp = self._context.stamp(snapshot)
        self._states.publish(message)

    # Inside.

    def _absence(self) -> str:
        """Return that the controller is not in charge, and what changes it."""
        snapshot, name = self.snapshot, self._context.node.get_name()
        if snapshot is None or snapshot.mode is not JointTrajectoryController.mode:
            other = f"`hc load {name}` if another controller has REMOTE"
            return f"{NOT_IN_CHARGE}: `hc mode remote` first ({other})"
        return (
            f"{NOT_IN_CHARGE}: {snapshot.mode.name} is {snapshot.controller}; `hc mode damp`, "
            f"`hc load {name}`, `hc mode standby --wait`, `hc mode remote`"
        )

    def _refused(self, reason: str) -> None:
        self._refusal = reason
        self._warn_once(f"motion refused: {reason}")

    def _key(self, progress: Progress | None) -> tuple[int, Status, str, str]:
        if progress is None:
            return (0, Status.ENDED, self._absence(), self._refusal)
        number, status, text = progress.goal.number, progress.status, progress.text
        latest = progress.ended[-1][0] if progress.ended else 0
        if latest > max(number, progress.before):  # a goal that never began
            number, status, text = progress.ended[-1]
        return (number, status, text, self._refusal)

    def try_plan(self, plan: Callable[[], Goal]) -> Goal | None:
        """Return what `plan` returns; None, with the reason logged and kept, if it is refused."""
        if self._follower.progress is None:
            self._refused(self._absence())
            return None
        try:
            goal = plan()
        except MotionRefusedError as error:
            self._refused(str(error))
            return None
        self._refusal = ""
        self._warn_once.forget()
        return goal

    def _begin(self, stamp: Time) -> float | None:
        """Return the loop's time [s] of a header's stamp; None for now."""
        asked = nanoseconds(stamp)
        snapshot = self.snapshot
        if asked == 0 or snapshot is None:
            return None
        return snapshot.now + (asked - self._context.stamp_ns(snapshot)) * 1e-9


def _refuse_late(what: str, late: float, latest: float) -> None:
    """Raise MotionRefusedError for a message that its sender may have given up since."""
    if late > latest:
        raise MotionRefusedError(
            f"a {what} came {late:.2f} s late, expected {latest:g} s at most: the connection was "
            "interrupted, a clock was set, or the clocks of two senders differ"
        )


def trajectory_size(joints: int) -> int:
    """Return the bytes that the longest trajectory of so many joints takes at most."""
    # Of each point: its arrays, each with its size, and its time.
    return message_size(names=joints, numbers=MOST_POINTS * (ARRAYS * (joints + 1) + 1))


def _by_name(names: Sequence[str], values: Sequence[float]) -> Mapping[str, float]:
    """Return the values by name. Raises MotionRefusedError for wrong sizes, or a repeated name."""
    if len(names) != len(values):
        raise MotionRefusedError(
            f"{len(values)} values, expected one for each of {len(names)} joints"
        )
    found = dict(zip(names, values, strict=True))
    if len(found) != len(names):
        raise MotionRefusedError("a joint is named twice")
    return found


def seconds(duration: Duration) -> float:
    """Return a duration in [s]."""
    return float(duration.sec + duration.nanosec * 1e-9)
