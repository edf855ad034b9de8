"""Trajectories that are replaced, stopped and refused at any time, on the stepped robot.

The judge reads the commands of every tick: no request makes a command exceed the acceleration limit
of a joint. The arms move away from the body: where links come near, the limit stage brakes harder.
There are no payload and no pushes: the command also follows an arm that is pushed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from builtin_interfaces.msg import Duration
from humanoid_control_msgs.msg import JointJog, MITCommand, TrajectoryState
from humanoid_control_msgs.srv import FollowTrajectory, MoveJoints
from std_srvs.srv import Trigger
from test_support.operator import LATCHED
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from fault_campaign.campaign_controllers import TRAJECTORY
from fault_campaign.judging.observer import Observer
from fault_campaign.kinds.kind import Kind, Outcome, RefutedError, Scene
from fault_campaign.kinds.moving.motions import range_of
from fault_campaign.scenario import Start

ACCELERATION: Final = 4.0  # [rad/s^2] of every joint: max_acceleration of docs/examples
ROUNDING: Final = 1.01  # tolerance [rad/s^2]: the stamps of ticks are in nanoseconds
_LASTS: Final = 3.0  # [s] time of the requests
_ANSWERED: Final = 2.0  # [s] timeout of a request
_AT_REST: Final = 3.0  # [s] limit of the time to stop a motion
_PAUSE: Final = 0.4  # [s] between two requests, at most
_OPEN: Final = {"left_shoulder_roll": 0.6, "right_shoulder_roll": -0.6}  # [rad]: arms apart
_FAR: Final = 0.3  # [rad] from the open pose
_JOG_PERIOD: Final = 0.05  # [s]


@dataclass(slots=True)
class Commands:
    """Records the commanded positions of all ticks."""

    names: Sequence[str] = ()
    times: list[float] = field(default_factory=list)  # [s]
    positions: list[Sequence[float]] = field(default_factory=list)  # [rad]

    def add(self, message: MITCommand) -> None:
        """Note the command of one tick."""
        stamp = message.header.stamp
        self.names = message.joint_names
        self.times.append(stamp.sec % 1000 + stamp.nanosec * 1e-9)  # longer than a trial
        self.positions.append(message.position)

    def worst(self) -> tuple[str, float]:
        """Return the joint with the largest acceleration, and that [rad/s^2]."""
        time, position = np.array(self.times), np.array(self.positions)
        step = np.diff(time)[:, None]
        velocity = np.diff(position, axis=0) / step
        between = 0.5 * (step[1:] + step[:-1])
        found = np.abs(np.diff(velocity, axis=0)) / between
        tick, joint = divmod(int(found.argmax()), found.shape[1])
        return self.names[joint], float(found[tick, joint])


@dataclass(slots=True)
class Requests:
    """Requests to the trajectory controller: valid ones, and some that must be refused."""

    scene: Scene
    jogs: Any  # publisher
    middle: dict[str, float]  # [rad]: the pose around which it moves

    def open(self) -> None:
        """Move the arms apart. Raises RefutedError if that is refused."""
        self.middle |= _OPEN
        request = MoveJoints.Request(joint_names=[*_OPEN], positions=[*_OPEN.values()])
        answer = self._answer(MoveJoints, "move", request)
        if not answer.success:
            raise RefutedError(f"the arms cannot move apart: {answer.message}")
        self.scene.robot.observer.within(answer.duration, lambda: False)

    def send(self) -> None:
        """Send a random request. Raises RefutedError without an answer, or for a wrong one."""
        dice = self.scene.dice
        dice.choice((self._move, self._move, self._follow, self._follow, self._jog, self._stop))()

    def stop(self) -> None:
        """Stop the motion."""
        self._stop()

    def _stop(self) -> None:
        self._answer(Trigger, "stop", Trigger.Request())

    def _move(self) -> None:
        targets, dice = self._pose(), self.scene.dice
        request = MoveJoints.Request(
            joint_names=[*targets],
            positions=[*targets.values()],
            duration=dice.choice((0.0, dice.uniform(0.0, 2.0))),
            speed=dice.choice((0.0, dice.uniform(0.1, 2.0))),
        )
        self._answer(MoveJoints, "move", request)

    def _follow(self) -> None:
        """Send a trajectory; one in four is invalid and must be refused."""
        dice, names = self.scene.dice, [*self._pose()]
        points = [self._point(names, 0.6 * (i + 1)) for i in range(dice.randint(1, 4))]
        trajectory = JointTrajectory(joint_names=names, points=points)
        wrong = dice.random() < 0.25
        if wrong:
            dice.choice(_SPOILED)(trajectory)
        answer = self._answer(FollowTrajectory, "follow", FollowTrajectory.Request(
            trajectory=trajectory
        ))  # fmt: skip
        if wrong and answer.success:
            raise RefutedError(f"a trajectory that is none was accepted: {trajectory}")

    def _jog(self) -> None:
        """Jog as a program that ends without a stop."""
        observer, dice = self.scene.robot.observer, self.scene.dice
        speeds = {name: dice.uniform(-0.5, 0.5) for name in self._pose()}
        message = JointJog(joint_names=[*speeds], velocities=[*speeds.values()])
        for _ in range(dice.randint(1, 15)):
            self.jogs.publish(message)
            observer.within(_JOG_PERIOD, lambda: False)

    def _pose(self) -> dict[str, float]:
        """Return positions [rad] of some joints or all, near the middle."""
        robot, dice = self.scene.robot, self.scene.dice
        names = dice.sample(robot.joints.all, dice.randint(1, len(robot.joints.all)))
        lower, upper = range_of(robot.joints.robot, tuple(names))
        wanted = [self.middle[name] + dice.uniform(-_FAR, _FAR) for name in names]
        return dict(zip(names, np.clip(wanted, lower, upper).tolist(), strict=True))

    def _point(self, names: Sequence[str], time: float) -> JointTrajectoryPoint:
        dice = self.scene.dice
        positions = [self.middle[name] + dice.uniform(-_FAR, _FAR) / 2 for name in names]
        late = time * dice.uniform(1.0, 1.5)
        return JointTrajectoryPoint(positions=positions, time_from_start=seconds_of(late))

    def _answer(self, kind: Any, name: str, request: Any) -> Any:
        observer = self.scene.robot.observer
        answer = observer.answer(kind, f"/{TRAJECTORY}/{name}", request, _ANSWERED)
        if answer is None:
            raise RefutedError(f"{name}: no answer within {_ANSWERED:g} s")
        return answer


def seconds_of(seconds: float) -> Duration:
    """Return a time [s] as a message."""
    whole = math.floor(seconds)
    return Duration(sec=whole, nanosec=int((seconds - whole) * 1e9))


def _not_finite(trajectory: JointTrajectory) -> None:
    trajectory.points[-1].positions[0] = math.nan


def _backwards(trajectory: JointTrajectory) -> None:
    trajectory.points[-1].time_from_start = seconds_of(-1.0)


def _stranger(trajectory: JointTrajectory) -> None:
    trajectory.joint_names[0] = "tail"


def _short(trajectory: JointTrajectory) -> None:
    trajectory.points[0].positions.pop()


def _hasty(trajectory: JointTrajectory) -> None:
    for i, point in enumerate(trajectory.points):
        point.time_from_start = seconds_of(0.002 * (i + 1))
        point.positions = [it + 1.0 for it in point.positions]


_SPOILED: Final[Sequence[Callable[[JointTrajectory], None]]] = (
    _not_finite, _backwards, _stranger, _short, _hasty,
)  # fmt: skip


def _disturb(scene: Scene) -> None:
    """Send random requests. Raises RefutedError for a step, or a motion without an end."""
    observer, dice = scene.robot.observer, scene.dice
    latest = observer.joint_states[-1]
    jogs = observer.node.create_publisher(JointJog, f"/{TRAJECTORY}/jog", 10)
    requests = Requests(scene, jogs, dict(zip(latest.name, latest.position, strict=True)))
    commands, states = Commands(), list[TrajectoryState]()
    with (
        heard(observer, MITCommand, "prime/joint_commands", commands.add),
        heard(observer, TrajectoryState, f"/{TRAJECTORY}/state", states.append, LATCHED),
    ):
        requests.open()
        end = scene.robot.twin.time() + _LASTS
        while scene.robot.twin.time() < end:
            requests.send()
            observer.within(dice.choice((0.0, dice.uniform(0.0, _PAUSE))), lambda: False)
        requests.stop()
        ended = observer.within(_AT_REST, lambda: states and not moves(states[-1]))
    if not ended:
        raise RefutedError(f"a motion does not end: {states[-1:]}")
    joint, acceleration = commands.worst()
    if acceleration > ROUNDING * ACCELERATION:
        allowed = f"allowed {ACCELERATION:g}"
        raise RefutedError(f"{joint} is commanded with {acceleration:.2f} rad/s², {allowed}")


def moves(state: TrajectoryState) -> bool:
    """Return True if a motion is active."""
    return bool(state.status == TrajectoryState.ACTIVE)


@contextmanager
def heard(
    observer: Observer, kind: Any, topic: str, take: Callable[[Any], object], qos: Any = 100
) -> Iterator[None]:
    """Pass the messages of a topic to `take` inside the context."""
    subscription = observer.node.create_subscription(kind, topic, lambda it: take(it) and None, qos)
    try:
        yield
    finally:
        observer.node.destroy_subscription(subscription)


KINDS: Final = (
    Kind(
        name="command: trajectories replaced, stopped and refused",
        inject=_disturb,
        starts=(Start.TRAJECTORIES,),
        outcome=Outcome.STAYS,
        apart=True,
        alone=True,
    ),
)
