"""The points that play a motion from the present pose of the joints."""

from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.motion_file.motion import Motion
from humanoid_motion.trajectory.points import Point

SPEED: Final = 0.5  # [rad/s] of any joint in the approach to the beginning
BEND: Final = 1.0  # [rad/s^2] on it: a quarter of what trajectories may have
LEAST: Final = 1.0  # [s] that the approach takes
PAUSE: Final = 0.2  # [s] at rest at the beginning
# Of a quintic from rest to rest: largest speed by distance and time, acceleration by its square.
_PEAK_SPEED: Final = 15.0 / 8.0
_PEAK_BEND: Final = 10.0 / np.sqrt(3.0)


def played(motion: Motion, present: FloatArray, speed: float) -> list[Point]:
    """Return the points of a trajectory: an approach to the beginning, a pause, the motion.

    Args:
        motion: its points are those of the result from the second one on.
        present: where its joints are [rad], (k,).
        speed: of the motion, times its own; the approach to its beginning takes its own time.
    """
    distance = float(np.abs(motion.positions[0] - present).max())
    approach = max(
        distance * _PEAK_SPEED / SPEED, float(np.sqrt(distance * _PEAK_BEND / BEND)), LEAST
    )
    first = motion.positions[0].tolist()
    times = approach + PAUSE + (motion.times - motion.times[0]) / speed
    rows = zip(times.tolist(), motion.positions.tolist(), strict=True)
    return [Point(approach, first), *(Point(time, row) for time, row in rows)]
