"""The points that play a motion from the present pose of the joints."""

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.motion_file.motion import Motion
from humanoid_motion.trajectory.points import Point

SPEED: Final = 0.5  # [rad/s] of any joint in the approach to the beginning
BEND: Final = 1.0  # [rad/s^2] on it: a quarter of what trajectories may have
LEAST: Final = 1.0  # [s] that the approach takes
SAG: Final = 0.15  # [rad] that a joint may be from its target, at which the approach begins
PAUSE: Final = 0.2  # [s] at rest at the beginning
# Of a quintic from rest to rest: largest speed by distance and time, acceleration by its square.
_PEAK_SPEED: Final = 15.0 / 8.0
_PEAK_BEND: Final = 10.0 / np.sqrt(3.0)


def played(motion: Motion, present: FloatArray, speed: float, velocity: FloatArray) -> list[Point]:
    """Return the points of a trajectory: an approach to the beginning, a pause, the motion.

    Args:
        motion: its points are those of the result from the second one on. Its limits are also those
            of the approach.
        present: where its joints are [rad], (k,).
        speed: of the motion, times its own; the approach to its beginning takes its own time.
        velocity: limits of its joints [rad/s], (k,).
    """
    distance = np.abs(motion.positions[0] - present)
    most = distance + SAG
    limit = np.minimum(velocity, motion.velocity)
    times = (
        distance * _PEAK_SPEED / SPEED,
        np.sqrt(distance * _PEAK_BEND / BEND),
        most * _PEAK_SPEED / limit,
        np.sqrt(most * _PEAK_BEND / motion.acceleration),
    )
    approach = max(LEAST, *(float(it.max()) for it in times))
    first = motion.positions[0].tolist()
    at = approach + PAUSE + (motion.times - motion.times[0]) / speed
    rows = zip(at.tolist(), motion.positions.tolist(), strict=True)
    return [Point(approach, first), *(Point(time, row) for time, row in rows)]
