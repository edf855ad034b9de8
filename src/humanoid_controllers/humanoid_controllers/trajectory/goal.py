"""Goals of the trajectory controller, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.trajectory.trajectory import Trajectory


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
    velocity: float  # [rad/s] at the end
    goal_time: float  # [s] after the end within which they must hold


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
