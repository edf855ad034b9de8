"""The motion that a policy follows."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, JointLimits, JointSet
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.limits import MotionLimits
from humanoid_motion.trajectory.point_trajectory import trajectory_through
from humanoid_motion.trajectory.points import Point, checked_points
from humanoid_policy.observation.inputs import Reference


class MotionReference(Protocol):
    """A motion of the joints of a policy, in its order, n of them."""

    @property
    def duration(self) -> float:
        """Time from its beginning to its end [s]; 0: it does not move."""

    def at(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Return position [rad] and velocity [rad/s], (n,) each, at `time` [s] from its beginning.

        After its end it rests there.
        """


def reference_at(motion: MotionReference, time: float) -> Reference:
    """Return the reference at `time` [s]."""
    position, velocity = motion.at(time)
    phase = min(max(time / motion.duration, 0.0), 1.0) if motion.duration else 1.0
    return Reference(position, velocity, np.array([phase]))


class WaypointMotion:
    """Passes through waypoints, joined by quintics; see MotionReference.

    It begins at the default positions. A first waypoint at time 0 replaces them. The joints that
    are not named stay at theirs.

    Args:
        joints: of the policy, n.
        default: positions [rad], (n,).
        limits: of each joint; the motion must respect range and velocity.
        names: of the k joints that move.
        waypoints: time [s] and positions [rad] of the named joints, (k,), of each; times ascend.

    Raises MotionRefusedError that names waypoint and joint.
    """

    def __init__(
        self,
        joints: JointSet,
        default: FloatArray,
        limits: JointLimits,
        names: Sequence[str],
        waypoints: Sequence[tuple[float, Sequence[float]]],
    ) -> None:
        given = [Point(time, positions) for time, positions in waypoints]
        points = checked_points(joints, names, given, partial=True)
        start = np.zeros((3, len(joints)))
        start[0] = default
        if points.times[0] == 0.0:
            start[0, points.rows] = points.positions[0]
        beyond = np.flatnonzero((start[0] < limits.target_lower) | (start[0] > limits.target_upper))
        if beyond.size:
            i = beyond[0]
            raise MotionRefusedError(
                f"{joints.names[i]}: begins at {start[0, i]:.4g} rad, allowed "
                f"{limits.target_lower[i]:.4g} to {limits.target_upper[i]:.4g} rad"
            )
        unlimited = np.full(len(joints), np.inf)  # acceleration and jerk
        allowed = MotionLimits(
            limits.target_lower, limits.target_upper, limits.velocity, unlimited, unlimited
        )
        self._trajectory = trajectory_through(start, points, allowed, joints, 0.0)

    @property
    def duration(self) -> float:
        """See MotionReference."""
        return self._trajectory.duration

    def at(self, time: float) -> tuple[FloatArray, FloatArray]:
        """See MotionReference."""
        state = self._trajectory.at(time)
        return state[0], state[1]
