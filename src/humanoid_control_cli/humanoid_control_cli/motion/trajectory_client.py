"""Requests to the trajectory controllers of a robot."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

from builtin_interfaces.msg import Duration
from humanoid_control_msgs.msg import JointJog, TrajectoryState
from humanoid_control_msgs.srv import FollowTrajectory, MoveJoints
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_control_cli.client import CHECK_PERIOD, Client
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.motion.states import STATE, WORDS, trajectory_controllers
from humanoid_control_common.errors import RobotError
from humanoid_control_common.middleware.qos_profiles import LATCHED_HISTORY
from humanoid_motion.trajectory.points import Point

SILENCE: Final = 0.3  # [s] without a statement of the mode manager, which come at 50 Hz
SETTLING: Final = 0.3  # [s] in which the other controllers of the robot are discovered


@contextmanager
def _motion_unknown() -> Iterator[None]:
    """Add to a NoAnswerError that the joints may move: a motion goes on without its client."""
    try:
        yield
    except NoAnswerError as error:
        raise NoAnswerError(f"{error}; joints may move: `hc stop` stops them") from error


class TrajectoryClient:
    """Finds the trajectory controllers, and follows their states.

    Raises RobotError without one, NoAnswerError without a control process.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._states: dict[str, TrajectoryState] = {}  # by controller
        self._asked: set[str] = set()  # controllers of which this client has requested a motion
        self._goals: dict[str, int] = {}  # of this client, by controller
        self._find()

    def move(self, angles: Mapping[str, float], duration: float, speed: float) -> float:
        """Move joints to `angles` [rad]; return how long it takes [s].

        Args:
            angles: by joint.
            duration: the shortest time [s].
            speed: of each joint at most [rad/s]; 0: its limit.

        Raises RefusedError with the reason; what has begun is stopped then.
        """
        longest = 0.0
        for name, own in self._by_controller(angles).items():
            request = MoveJoints.Request(
                joint_names=list(own), positions=list(own.values()), duration=duration, speed=speed
            )
            answer = self._begin(name, MoveJoints, "move", request)
            longest = max(longest, answer.duration)
        return longest

    def follow(self, joints: Sequence[str], points: Sequence[Point]) -> float:
        """Follow `points` of `joints`; return how long it takes [s].

        Raises RefusedError with the reason; what has begun is stopped then.
        """
        for name, own in self._by_controller(dict.fromkeys(joints, 0.0)).items():
            columns = [joints.index(joint) for joint in own]
            trajectory = JointTrajectory(
                joint_names=list(own), points=[_message(point, columns) for point in points]
            )
            request = FollowTrajectory.Request(trajectory=trajectory)
            self._begin(name, FollowTrajectory, "follow", request)
        return points[-1].time

    @_motion_unknown()
    def wait_until_done(self, duration: float, stopped: Callable[[], bool]) -> None:
        """Wait for the end of the motion, which takes `duration` [s], or until it is `stopped`.

        The robot's time counts.

        Raises RefusedError if it ends otherwise than at its goal, or not at all; NoAnswerError if
        the control process ends, or is no longer heard.
        """
        left = dict(self._goals)
        time = _RobotTime(self._client)
        while not self._client.wait(lambda: stopped() or all(map(self._ended, left)), CHECK_PERIOD):
            if time.elapsed() > duration + self._client.timeout:
                waits = ", ".join(name for name in left if not self._ended(name))
                late = f"{self._client.timeout:g} s after the planned one"
                raise RefusedError(f"{waits}: no end {late}: it may still move")
        if stopped():
            return
        for name in left:
            state = self._states[name]
            if self._is_idle(name):
                raise RefusedError(f"ended: in force is {ModeClient(self._client).statement()}")
            if state.goal > self._goals[name]:
                raise RefusedError(WORDS[TrajectoryState.PREEMPTED])
            if state.status != TrajectoryState.SUCCEEDED:
                raise RefusedError(f"{WORDS[state.status]}: {state.message}")

    def jogged(self, joint: str) -> "JoggedJoint":
        """Return `joint`, to be jogged. Raises RefusedError if no controller has it."""
        (name,) = self._by_controller({joint: 0.0})
        return JoggedJoint(self._client, name, joint, self._states.__getitem__)

    @_motion_unknown()
    def stop(self) -> None:
        """Stop the motions of this client along their paths. Raises NoAnswerError."""
        for name in sorted(self._asked):
            self._client.trigger(f"{name}/stop")

    # Inside.

    def _begin(self, name: str, kind: Any, service: str, request: Any) -> Any:
        """Request a motion of controller `name`; return its response.

        Raises RefusedError; the motions of this client are stopped then, not those of others.
        Raises NoAnswerError; whatever moves is stopped then, as this motion may have begun.
        """
        self._asked.add(name)
        try:
            answer = self._client.accepted(kind, f"{name}/{service}", request)
        except RefusedError:
            for begun in self._goals:
                self._client.trigger(f"{begun}/stop")
            raise
        except NoAnswerError:
            self.stop()
            raise
        self._goals[name] = answer.goal
        return answer

    def _find(self) -> None:
        node, client = self._client.node, self._client

        def found() -> list[str]:
            return trajectory_controllers(node)

        if not client.wait(found, client.timeout):
            if ModeClient(client).is_gone():
                raise client.no_control_process()
            raise RobotError(
                "no trajectory controller is loaded: add one to the robot's controllers, or "
                "`hc load` its file in another mode than REMOTE; see docs/trajectories.md"
            )
        client.wait(lambda: False, SETTLING)
        names = found()
        for name in names:
            note = partial(self._states.__setitem__, name)
            client.subscribe(TrajectoryState, f"{name}/{STATE}", note, LATCHED_HISTORY)

        def stated() -> bool:
            return bool(names) and all(name in self._states for name in names)

        if not client.wait(stated, client.timeout):
            raise client.no_control_process()

    def _by_controller(self, values: Mapping[str, float]) -> dict[str, dict[str, float]]:
        """Return `values` by controller and joint. Raises RefusedError for an unknown joint."""
        found: dict[str, dict[str, float]] = {}
        for joint, value in values.items():
            owners = [name for name, it in self._states.items() if joint in it.joint_names]
            if not owners:
                known = sorted({name for it in self._states.values() for name in it.joint_names})
                raise RefusedError(f"unknown joint {joint}; known: {', '.join(known)}")
            owners.sort(key=self._is_idle)
            found.setdefault(owners[0], {})[joint] = value
        return found

    def _is_idle(self, name: str) -> bool:
        """Return whether a controller is not in charge."""
        return bool(self._states[name].status == TrajectoryState.ENDED)

    def _ended(self, name: str) -> bool:
        state = self._states[name]
        if self._is_idle(name):
            return True
        later = state.goal - self._goals[name]
        if later > 0:  # one that was never begun leaves the motion as it is
            return bool(state.status != TrajectoryState.OVERTAKEN)
        return bool(later == 0 and state.status != TrajectoryState.ACTIVE)


def _message(point: Point, columns: Sequence[int]) -> JointTrajectoryPoint:
    """Return the positions of some joints at a point."""
    seconds, nanoseconds = divmod(round(point.time * 1e9), 1_000_000_000)
    return JointTrajectoryPoint(
        positions=[point.positions[column] for column in columns],
        time_from_start=Duration(sec=seconds, nanosec=nanoseconds),
    )


class _RobotTime:
    """The time of the robot since this was made; a simulation may be slow.

    Raises NoAnswerError without statements of the mode manager.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._modes = ModeClient(client)
        self._latest = self._modes.statement()
        self._begin = self._latest.stamp  # [ns]
        self._changed_at = self._began_at = client.clock()

    def elapsed(self) -> float:
        """Return the time [s]: that of the client if it is less, as a clock may have been set.

        Raises NoAnswerError if the statements end, RefusedError if the robot's time stands still.
        """
        now, timeout = self._client.clock(), self._client.timeout
        latest = self._modes.statement()
        if latest.stamp != self._latest.stamp:
            self._begin += min(latest.stamp - self._latest.stamp, 0)  # the clock was set back
            self._latest, self._changed_at = latest, now
        elif now - self._changed_at > timeout:
            if latest is self._latest:
                raise self._client.no_control_process()
            raise RefusedError(f"the control loop stands still for {timeout:g} s: see `hc status`")
        return min((latest.stamp - self._begin) * 1e-9, now - self._began_at)


class JoggedJoint:
    """One joint of a trajectory controller. Raises NoAnswerError without a control process."""

    def __init__(
        self, client: Client, controller: str, joint: str, state: Callable[[str], TrajectoryState]
    ) -> None:
        self._client = client
        self._controller = controller
        self.name = joint
        self._state = state
        self._modes = ModeClient(client)
        self._modes.statement()
        self._topic = client.node.create_publisher(JointJog, f"{controller}/jog", 10)
        client.wait(self._topic.get_subscription_count, client.timeout)

    def jog(self, speed: float) -> None:
        """Move at `speed` [rad/s] for a moment. Raises RefusedError outside of REMOTE."""
        state = self._state(self._controller)
        if state.status == TrajectoryState.ENDED:
            raise RefusedError(state.message)
        self._topic.publish(JointJog(joint_names=[self.name], velocities=[speed]))

    @property
    def is_silent(self) -> bool:
        """True while the robot is silent: a jog could arrive after its key was released."""
        return self._modes.silence() > SILENCE

    @property
    def refusal(self) -> str:
        """The robot's reason for its latest refusal, to any client; empty without one."""
        return str(self._state(self._controller).refusal)

    def stop(self) -> None:
        """Stop along the path."""
        self._client.trigger(f"{self._controller}/stop")
