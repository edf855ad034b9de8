"""A trajectory from the present state through received points."""

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointSet
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.limits import MotionLimits, refuse_beyond
from humanoid_motion.trajectory.points import Points
from humanoid_motion.trajectory.polynomials import cubic, quartic, quintic, shifted
from humanoid_motion.trajectory.trajectory import Trajectory

AT_REST: Final = 1e-9  # [rad/s, rad/s^2] of a commanded joint
BLENDS: Final = 5  # times that a joining motion is tried, each twice as long as the one before


def trajectory_through(
    start: FloatArray,
    points: Points,
    limits: MotionLimits,
    joints: JointSet,
    start_tolerance: float,
) -> Trajectory:
    """Return the trajectory of all joints that continues `start` without a step.

    Points with only positions are connected by quintics that pass them at a velocity chosen from
    their neighbours, without acceleration; points with velocities by cubics; points with
    accelerations by quintics. A first point at time 0 is the sender's assumption of the present
    pose: the difference to `start` fades out over the next points.

    Args:
        start: commanded state, (3, n).
        points: of some or all `joints`; the others hold their position.
        limits: of each joint.
        joints: their names.
        start_tolerance: largest difference [rad] of a first point at time 0 to `start`.

    Raises MotionRefusedError if it is beyond `limits`, starts too far away, or leaves out a joint
    that moves.
    """
    refuse_moving(start, points.rows, joints)
    own = start[:, points.rows]
    joins = points.times[0] == 0.0
    if joins:
        _refuse_far(own, points, joints, start_tolerance)
    states = _states(own, points)
    times = points.times if joins else np.concatenate([[0.0], points.times])
    duration = np.diff(times)
    if points.accelerations is None and points.velocities is not None:
        moved = cubic(states[:-1], states[1:], duration)
        if not joins:  # the acceleration in force continues
            moved[:1] = quartic(states[:1], states[1:2], duration[:1])
    else:
        moved = quintic(states[:-1], states[1:], duration)
    knots = tuple(times.tolist())
    found = np.zeros((len(duration), 6, len(joints)))
    found[:, 0] = start[0]
    found[:, :, points.rows] = moved
    if joins:
        return _joined(start, Trajectory(knots, found), limits, joints)
    trajectory = Trajectory(knots, found)
    refuse_beyond(trajectory, limits, joints)
    return trajectory


def refuse_moving(start: FloatArray, rows: IndexArray, joints: JointSet) -> None:
    """Raise MotionRefusedError if one of the `joints` that are not among `rows` moves.

    Args:
        start: commanded state, (3, n).
        rows: of the joints that a new motion moves.
        joints: their names.
    """
    moves = np.abs(start[1:]).max(axis=0) > AT_REST
    moves[rows] = False
    if moves.any():
        raise MotionRefusedError(
            f"{joints.named(moves)}: moves, and is not named: name it, or stop it first"
        )


def _refuse_far(own: FloatArray, points: Points, joints: JointSet, tolerance: float) -> None:
    far = np.flatnonzero(np.abs(points.positions[0] - own[0]) > tolerance)
    if far.size:
        k = far[0]
        raise MotionRefusedError(
            f"point 0, {joints.names[points.rows[k]]}: {points.positions[0, k]:.4g} rad at "
            f"time 0, expected the present {own[0, k]:.4g} rad within {tolerance:g} rad"
        )


def _states(own: FloatArray, points: Points) -> FloatArray:
    """Return the states at the knots, (m + 1, 3, k); (m, 3, k) if the first point is at time 0."""
    joins = points.times[0] == 0.0
    states = np.zeros((len(points.times), 3, len(points.rows)))
    states[:, 0] = points.positions
    if not joins:
        states = np.concatenate([own[None], states])
    first = 0 if joins else 1
    if points.velocities is not None:
        states[first:, 1] = points.velocities
    else:
        times = points.times if joins else np.concatenate([[0.0], points.times])
        states[1:-1, 1] = _passing_velocities(states[:, 0], np.diff(times))
    if points.accelerations is not None:
        states[first:, 2] = points.accelerations
    states[-1, 1] = 0.0
    return states


def _passing_velocities(positions: FloatArray, duration: FloatArray) -> FloatArray:
    """Return velocities [rad/s] at the inner points, (m - 1, k), for `positions` (m + 1, k).

    0 where the direction turns, else the weighted harmonic mean of the neighbouring slopes
    (Fritsch and Butland, 1984): the motion between two points does not turn back.
    """
    slope = np.diff(positions, axis=0) / duration[:, None]
    before, after = slope[:-1], slope[1:]
    long, short = duration[:-1, None], duration[1:, None]
    first, second = 2 * short + long, short + 2 * long
    passes = before * after > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (first + second) / (first / before + second / after)
    return np.where(passes, mean, 0.0)


def _joined(
    start: FloatArray, trajectory: Trajectory, limits: MotionLimits, joints: JointSet
) -> Trajectory:
    """Return `trajectory` plus the difference of `start` to its beginning, which fades out.

    The difference fades as a quintic that ends at a knot: the first one for which the limits hold.
    Raises MotionRefusedError of the last attempt.
    """
    knots = trajectory.knots
    difference = np.zeros((1, 3, len(joints)))
    difference[0] = start - trajectory.at(0.0)
    count = 1
    for _ in range(BLENDS):
        last = min(count, len(knots) - 1)
        fading = quintic(difference, np.zeros_like(difference), np.array([knots[last]]))[0]
        coefficients = trajectory.coefficients.copy()
        for segment in range(last):
            coefficients[segment] += shifted(fading, knots[segment])
        joined = Trajectory(knots, coefficients)
        try:
            refuse_beyond(joined, limits, joints, first=1)
        except MotionRefusedError as error:
            refused = error
        else:
            return joined
        count *= 2
    raise refused
