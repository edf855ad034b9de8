"""The planner of the trajectory controller: makes goals from requests."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final, NamedTuple

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointSet
from humanoid_controllers.trajectory.follower import ALL, Follower
from humanoid_controllers.trajectory.goal import Goal, Progress, Status, Tolerances
from humanoid_motion.collision.path_check import PathCheck
from humanoid_motion.errors import MotionRefusedError, Refusal
from humanoid_motion.jerk_limited.jerk_limited_motion import jerk_limited_motion
from humanoid_motion.trajectory.limits import MotionLimits
from humanoid_motion.trajectory.point_trajectory import refuse_moving, trajectory_through
from humanoid_motion.trajectory.points import Point, checked_points
from humanoid_motion.trajectory.trajectory import Trajectory

# A goal that replaces a motion begins so much later: time to plan it (45 ms for the longest
# trajectory) and to reach the loop (one tick of 20 ms).
LEAD: Final = 0.1  # [s]
# A motion that begins long after its request surprises operators, and a stamp so far ahead is that
# of a wrong clock.
LATEST: Final = 60.0  # [s] from now to the beginning of a trajectory
NOT_IN_CHARGE: Final = "the controller is not in charge"


@dataclass(frozen=True, slots=True)
class MotionRules:
    """The rules of the planner.

    Args:
        limits: of every joint.
        tolerances: of goals without tolerances of their own.
        partial: whether trajectories may leave joints out.
        start_tolerance: see `trajectory_through` [rad].
        path_check: against self-collision; None: paths are not checked.
    """

    limits: MotionLimits
    tolerances: Tolerances
    partial: bool
    start_tolerance: float
    path_check: PathCheck | None = None


class _Start(NamedTuple):
    """The begin of a new motion."""

    state: FloatArray  # (3, n)
    after: Goal
    begin: float | None  # [s], see Goal


class Planner:
    """Plans goals and offers them to the follower. One thread calls it.

    All methods raise MotionRefusedError if the goal is refused; the present motion then continues.
    """

    def __init__(self, joints: JointSet, rules: MotionRules, follower: Follower) -> None:
        self._joints = joints
        self._rules = rules
        self._follower = follower
        self._numbers = count(1)
        self._jog: tuple[Goal, Mapping[str, float]] | None = None

    def follow(
        self,
        names: Sequence[str],
        points: Sequence[Point],
        now: float,
        begin: float | None = None,
        tolerances: Tolerances | None = None,
    ) -> Goal:
        """Offer a trajectory through `points` of the joints `names`; return the goal.

        Args:
            names: of the joints that move.
            points: their values in this order.
            now: the loop's time [s].
            begin: the loop's time [s] at which it begins; None: now.
            tolerances: those of the controller by default.
        """
        if begin is not None and begin < now:
            raise MotionRefusedError(
                f"header.stamp is {now - begin:.3g} s in the past, expected one in the future, "
                "or 0 for now",
                Refusal.OLD_HEADER_TIMESTAMP,
            )
        if begin is not None and begin > now + LATEST:
            raise MotionRefusedError(
                f"header.stamp is {begin - now:.3g} s in the future, expected {LATEST:g} s at most"
            )
        rules = self._rules
        checked = checked_points(self._joints, names, points, partial=rules.partial)
        start = self._start(now, begin)
        trajectory = trajectory_through(
            start.state, checked, rules.limits, self._joints, rules.start_tolerance
        )
        return self._offer(trajectory, start, tolerances or rules.tolerances)

    def move(
        self,
        targets: Mapping[str, float],
        now: float,
        duration: float = 0.0,
        speed: float = 0.0,
    ) -> Goal:
        """Offer a jerk-limited motion to the positions [rad] of some joints; return the goal.

        Args:
            targets: positions [rad] by joint.
            now: the loop's time [s].
            duration: the shortest time it may take [s].
            speed: of any joint at most [rad/s]; 0: the joints' limits.
        """
        rows, values = self._targets(targets, "position")
        for what, value in (("duration", duration), ("speed", speed)):
            if not (np.isfinite(value) and value >= 0.0):
                raise MotionRefusedError(f"{what} {value}, expected 0 or more")
        limits = self._rules.limits
        for row, value in zip(rows, values, strict=True):
            if not limits.lower[row] <= value <= limits.upper[row]:
                raise MotionRefusedError(
                    f"{self._joints.names[row]}: position {value:.4g} rad, allowed "
                    f"{limits.lower[row]:.4g} to {limits.upper[row]:.4g} rad"
                )
        return self._motion(self._start(now, None), rows, values, duration, speed or np.inf)

    def jog(self, speeds: Mapping[str, float], now: float) -> Goal:
        """Move joints at `speeds` [rad/s] while this is called often enough; return the goal.

        Each joint moves towards the end of its range; one that is beyond it already stays. All stop
        where links come too near. A repeated call with the same speeds keeps the motion; the
        follower stops it when calls cease.
        """
        rows, values = self._targets(speeds, "velocity")
        if not values.any():
            raise MotionRefusedError("all velocities are 0, expected at least one that moves")
        progress = self._progress()
        if self._jog is not None and self._jog[1] == speeds:
            goal = self._jog[0]
            if progress.of(goal.number)[0] is Status.ACTIVE and not progress.braking:
                self._follower.keep(now)
                return goal
        moving = values != 0.0
        rows, values = rows[moving], values[moving]
        start, limits = self._start(now, None), self._rules.limits
        present = start.state[0, rows]
        upper = np.maximum(limits.upper[rows], present)
        lower = np.minimum(limits.lower[rows], present)
        ends = np.where(values > 0, upper, lower)
        goal = self._motion(start, rows, ends, 0.0, np.abs(values), jog=True)
        self._jog = (goal, dict(speeds))
        return goal

    def cancel(self, number: int = ALL) -> None:
        """Stop goal `number`, or all, along the path."""
        self._follower.cancel(number)

    # Inside.

    def _motion(
        self,
        start: _Start,
        rows: IndexArray,
        ends: FloatArray,
        duration: float,
        speed: FloatArray | float,
        *,
        jog: bool = False,
    ) -> Goal:
        limits = self._rules.limits
        refuse_moving(start.state, rows, self._joints)
        goal = start.state[0].copy()
        goal[rows] = ends
        speeds = np.full(len(self._joints), np.inf)
        speeds[rows] = speed
        trajectory = jerk_limited_motion(start.state, goal, limits, self._joints, duration, speeds)
        check = self._rules.path_check
        if jog and check is not None:  # else the command would run on where the joints are stopped
            clear = check.last_clear(trajectory.poses()[1])
            if clear is not None:
                trajectory = jerk_limited_motion(
                    start.state, clear, limits, self._joints, duration, speeds
                )
        return self._offer(trajectory, start, self._rules.tolerances, jog=jog)

    def _offer(
        self, trajectory: Trajectory, start: _Start, tolerances: Tolerances, *, jog: bool = False
    ) -> Goal:
        if not jog:  # see `_motion`
            self._check_links(trajectory)
        number = next(self._numbers)
        goal = Goal(number, trajectory, tolerances, start.after, start.begin, jog)
        self._follower.offer(goal)
        return goal

    def _check_links(self, trajectory: Trajectory) -> None:
        """Raise MotionRefusedError if links come too near to each other on the path."""
        check = self._rules.path_check
        if check is None:
            return
        times, poses = trajectory.poses()
        conflict = check.conflict(poses)
        if conflict is not None:
            raise MotionRefusedError(
                f"at {times[conflict.sample]:.2f} s {check.refusal(conflict)}: take another way"
            )

    def _progress(self) -> Progress:
        progress = self._follower.progress
        if progress is None:
            raise MotionRefusedError(NOT_IN_CHARGE)
        return progress

    def _start(self, now: float, begin: float | None) -> _Start:
        """Return the commanded state from which a motion continues, at `begin` or at the next tick.

        Raises MotionRefusedError while the joints come to rest.
        """
        progress = self._progress()
        if progress.braking:
            raise MotionRefusedError("the joints are coming to rest: send it again when they are")
        if progress.slowed:
            text = "links too near to each other slow the motion down: stop it, or send this later"
            raise MotionRefusedError(text)
        goal = progress.goal
        if progress.rests:
            return _Start(goal.trajectory.end, goal, begin)
        begin = now + LEAD if begin is None else begin
        return _Start(goal.trajectory.at(begin - progress.began), goal, begin)

    def _targets(self, values: Mapping[str, float], what: str) -> tuple[IndexArray, FloatArray]:
        if not values:
            raise MotionRefusedError("no joint is named", Refusal.INVALID_JOINTS)
        try:
            rows = self._joints.indices(values)
        except ConfigError as error:
            raise MotionRefusedError(str(error), Refusal.INVALID_JOINTS) from error
        for name, value in values.items():
            if not np.isfinite(value):
                raise MotionRefusedError(f"{name}: {what} {value}, expected a finite number")
        return rows, np.array([*values.values()])
