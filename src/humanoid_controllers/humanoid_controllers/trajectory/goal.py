"""Goals of the trajectory controller, and their results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_motion.errors import MotionRefusedError, Refusal
from humanoid_motion.trajectory.trajectory import Trajectory

ERASED: Final = -1.0  # a tolerance of a request that switches the controller's own off
# Fields of a goal for joints with several axes.
_SEVERAL_AXES: Final = ("component_path_tolerance", "component_goal_tolerance")


class Status(IntEnum):
    """State of a goal; the values are those of humanoid_control_msgs/TrajectoryState."""

    HOLDING = 0  # no goal since the controller is in force
    ACTIVE = 1
    SUCCEEDED = 2
    CANCELED = 3
    PREEMPTED = 4
    PATH_TOLERANCE_VIOLATED = 5
    GOAL_TOLERANCE_VIOLATED = 6
    ENDED = 7  # with the controller
    OVERTAKEN = 8  # by another goal or a stop while it was planned: it never began
    LINKS_TOO_NEAR = 9  # the limit stage kept two links apart, and the motion did not get on


@dataclass(frozen=True, slots=True)
class Tolerances:
    """Largest distances of the joints to the trajectory; inf: not checked."""

    path: FloatArray  # [rad] during the motion, (n,)
    goal: FloatArray  # [rad] at the end, (n,)
    velocity: FloatArray  # [rad/s] at the end, (n,)
    goal_time: float  # [s] after the end within which they must hold; 0: any


@dataclass(frozen=True, slots=True, eq=False)
class Goal:
    """A planned motion.

    Args:
        number: counts goals; 0 is the pose held at first.
        trajectory: of all joints of the controller.
        tolerances: of it.
        after: the goal whose motion it continues; None for a pose that is held at first.
        begin: the loop's time [s] at which it begins, planned for that very moment; None: with the
            next tick, from rest.
        jog: whether it lasts only while its request is repeated.
    """

    number: int
    trajectory: Trajectory
    tolerances: Tolerances
    after: Goal | None = None
    begin: float | None = None
    jog: bool = False


class Progress(NamedTuple):
    """The state of the motion after a tick, a whole value for other threads."""

    goal: Goal  # in force
    began: float  # [s] the loop's time
    status: Status  # of the goal in force
    text: str  # reason of the end
    braking: bool  # it comes to rest; other goals are refused until then
    time: float  # [s] on the trajectory
    rate: float = 1.0  # at which that time passes; below 1 the motion is slowed down
    ended: tuple[tuple[int, Status, str], ...] = ()  # latest goals: number, status, reason
    waiting: int = 0  # number of the goal that waits for its time; 0: none
    seen: int = 0  # number of the latest goal that reached the loop
    before: int = 0  # number of the latest goal of the time before the controller was in charge

    @property
    def rests(self) -> bool:
        """True if the commanded joints are at rest."""
        return not self.braking and self.time >= self.goal.trajectory.duration

    @property
    def slowed(self) -> bool:
        """True while the motion is held back, or recovers from that: no motion can continue it."""
        return self.rate < 1.0

    def of(self, number: int) -> tuple[Status, str]:
        """Return status and reason of a goal."""
        for ended, status, text in self.ended:
            if ended == number:
                return status, text
        if number < self.seen and number not in (self.goal.number, self.waiting):
            # The loop never saw it.
            return Status.PREEMPTED, "another goal came right after it"
        return Status.ACTIVE, ""


def goal_tolerances(request: Any, own: Tolerances, joints: JointSet) -> Tolerances:
    """Return the tolerances of a goal of FollowJointTrajectory: the request's, else `own`.

    As upstream 0 keeps the controller's own and -1 switches it off. Raises MotionRefusedError for
    an unknown joint, another value below 0 or one that is not finite, and for what would not act:
    tolerances of accelerations, of velocities on the way, and of joints with several axes.
    """
    several = request.multi_dof_trajectory
    if several.joint_names or several.points or any(getattr(request, it) for it in _SEVERAL_AXES):
        raise MotionRefusedError(
            f"multi_dof_trajectory, {', '.join(_SEVERAL_AXES)}: expected none, all joints have "
            "one axis"
        )
    path, goal = (request.path_tolerance, request.goal_tolerance)
    endless = np.full(len(joints), np.inf)
    _with(endless, "path_tolerance", path, joints, "velocity", acts=False)
    for what, given in (("path_tolerance", path), ("goal_tolerance", goal)):
        _with(endless, what, given, joints, "acceleration", acts=False)
    asked = request.goal_time_tolerance
    time = _tolerance(asked.sec + asked.nanosec * 1e-9, own.goal_time, "goal_time_tolerance")
    return Tolerances(
        path=_with(own.path, "path_tolerance", path, joints, "position"),
        goal=_with(own.goal, "goal_tolerance", goal, joints, "position"),
        velocity=_with(own.velocity, "goal_tolerance", goal, joints, "velocity"),
        goal_time=time if np.isfinite(time) else 0.0,
    )


def _with(
    own: FloatArray,
    what: str,
    given: Sequence[Any],
    joints: JointSet,
    quantity: str,
    *,
    acts: bool = True,
) -> FloatArray:
    found = own.copy()
    for tolerance in given:
        if tolerance.name not in joints.names:
            text = f"{what}: unknown joint {tolerance.name}; known: {', '.join(joints.names)}"
            raise MotionRefusedError(text, Refusal.INVALID_JOINTS)
        row = joints.names.index(tolerance.name)
        where = f"{what}, {tolerance.name}: {quantity}"
        found[row] = _tolerance(getattr(tolerance, quantity), found[row], where)
        if not acts and np.isfinite(found[row]):
            raise MotionRefusedError(f"{where} {found[row]:g} would not act, expected 0")
    return found


def _tolerance(value: float, own: float, where: str) -> float:
    """Return the tolerance that a request means by `value`; inf: not checked."""
    if not (value >= 0.0 or value == ERASED) or not np.isfinite(value):
        raise MotionRefusedError(f"{where} {value}, expected 0 or more, or -1 for none")
    return np.inf if value == ERASED else value or own
