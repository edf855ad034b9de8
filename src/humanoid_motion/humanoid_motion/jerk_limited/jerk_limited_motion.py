"""The fastest motion from any state to rest at a pose, within limits up to the jerk.

The library ruckig (MIT licence) plans it; only this module imports ruckig.
"""

from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate
from typing import Any, Final

import numpy as np
import ruckig

from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.limits import MotionLimits, refuse_beyond
from humanoid_motion.trajectory.trajectory import Trajectory, hold

SAME_TIME: Final = 1e-9  # [s]: changes of the jerk that are closer are one
SAME_PLACE: Final = 1e-9  # [rad]: no joint has to move
# A state of the fastest motion leads exactly to a limit. From one that is beyond it by rounding,
# ruckig 0.19 may find a much slower motion: the limit is a little above what the state leads to.
ROUNDING: Final = 1e-7  # relative
ABOVE: Final = 1.0 + 1e-9
LONGEST: Final = 3600.0  # [s] of a motion


def jerk_limited_motion(
    start: FloatArray,
    goal: FloatArray,
    limits: MotionLimits,
    joints: JointSet,
    duration: float = 0.0,
    speed: FloatArray | None = None,
) -> Trajectory:
    """Return the motion from `start` to rest at `goal`: all joints arrive together.

    From rest, the motion is a straight line in the space of the joints.

    Args:
        start: state, (3, n).
        goal: positions [rad], (n,).
        limits: of each joint.
        joints: their names.
        duration: the shortest time it may take [s].
        speed: of each joint at most [rad/s], (n,); a faster one is slowed down first.

    Raises MotionRefusedError if the motion leaves the range of a joint, or cannot be planned.
    """
    slow = limits
    if speed is not None:
        slow = replace(limits, velocity=np.minimum(limits.velocity, speed))
    if start[1:].any():
        motion = _planned(start, goal, slow, duration)
    elif (np.abs(goal - start[0]) < SAME_PLACE).all():
        return hold(start[0])
    else:
        motion = _straight(start[0], goal, slow, duration)
    refuse_beyond(motion, limits, joints, first=1)
    return motion


def _straight(
    start: FloatArray, goal: FloatArray, limits: MotionLimits, duration: float
) -> Trajectory:
    """Return the motion between two poses (n,) at rest: that of one joint from 0 to 1, scaled."""
    distance = goal - start
    far = np.abs(distance) >= SAME_PLACE
    shares = (
        np.array([(limit[far] / np.abs(distance[far])).min()])
        for limit in (limits.velocity, limits.acceleration, limits.jerk)
    )
    one = MotionLimits(np.zeros(1), np.ones(1), *shares)
    part = _planned(np.zeros((3, 1)), np.ones(1), one, duration)
    coefficients = part.coefficients * distance
    coefficients[:, 0] += start
    return Trajectory(part.knots, coefficients)


def _planned(
    start: FloatArray, goal: FloatArray, limits: MotionLimits, duration: float
) -> Trajectory:
    count = len(goal)
    asked = ruckig.InputParameter(count)
    asked.current_position, asked.current_velocity, asked.current_acceleration = start.tolist()
    asked.target_position = goal.tolist()
    # Where the start leads if its acceleration ends as soon as may be.
    peak = np.abs(start[1] + start[2] * np.abs(start[2]) / (2 * limits.jerk))
    asked.max_velocity = _above(limits.velocity, peak).tolist()
    asked.max_acceleration = _above(limits.acceleration, np.abs(start[2])).tolist()
    asked.max_jerk = limits.jerk.tolist()
    if duration > 0.0:
        asked.minimum_duration = duration
    planned = ruckig.Trajectory(count)
    try:
        result = ruckig.Ruckig(count).calculate(asked, planned)
    except ruckig.RuckigError as error:
        reason = str(error).strip().partition("\n")[0]
        raise MotionRefusedError(f"no way to the pose: {reason}") from error
    except ValueError:  # ruckig returns an unknown result for motions above 7600 s
        result = None
    if result not in (ruckig.Result.Working, ruckig.Result.Finished) or planned.duration > LONGEST:
        raise MotionRefusedError(f"the way takes more than {LONGEST:g} s, expected a faster one")
    return _as_trajectory(planned, goal)


def _above(limit: FloatArray, reached: FloatArray) -> FloatArray:
    """Return `limit`; where `reached` is the limit but for rounding, a little above it."""
    same = np.abs(reached - limit) < ROUNDING * limit
    return np.where(same, ABOVE * np.maximum(reached, limit), limit)


def _as_trajectory(planned: Any, goal: FloatArray) -> Trajectory:
    """Return a planned motion, whose jerk is constant between the knots, as a trajectory."""
    knots = _knots(planned)
    states = np.array([planned.at_time(time) for time in knots])
    duration = np.diff(knots)
    coefficients = np.zeros((len(duration), 6, len(goal)))
    coefficients[:, :3] = states[:-1]
    coefficients[:, 2] /= 2
    coefficients[:, 3] = np.diff(states[:, 2], axis=0) / duration[:, None] / 6
    return Trajectory(knots, coefficients)


def _knots(planned: Any) -> tuple[float, ...]:
    """Return the times [s] at which the jerk of any joint changes, from 0 to the end."""
    duration = max(planned.duration, SAME_TIME)
    found = [0.0]
    for time in sorted({time for profile in planned.profiles[0] for time in _changes(profile)}):
        if found[-1] + SAME_TIME < time < duration - SAME_TIME:
            found.append(time)
    return (*found, duration)


def _changes(profile: Any) -> Iterable[float]:
    """Return the times [s] at which the jerk of one joint changes."""
    return accumulate([*profile.brake.t, *profile.t])
