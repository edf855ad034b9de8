"""Check that the robot's links stay apart on a whole path, also between its samples."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.collision.clearance import DETECTED, Clearance, LinkPair
from humanoid_motion.collision.collision_model import CollisionModel
from humanoid_motion.errors import MotionRefusedError

TOLERANCE: Final = 0.002  # [m]; the distance between two checked poses may be smaller by this
# 12 to 25 µs each. The ROS side waits meanwhile: 200 ms of its silence lead to DAMPING.
MOST_CHECKS: Final = 3000


@dataclass(frozen=True, slots=True)
class Conflict:
    """The first place of a path where two links come too near."""

    sample: int  # index of the sample before it
    position: FloatArray  # (n_joints,) [rad]
    before: FloatArray  # (n_joints,) [rad], the last pose before it that was looked at
    clearance: Clearance


def first_conflict(model: CollisionModel, path: FloatArray, distance: float) -> Conflict | None:
    """Return the first place of `path` (n_samples, n_joints) [rad] nearer than `distance` [m].

    Links that are nearer at its beginning may not come nearer than there.

    The path is straight in joint space between two samples. A point of a link moves at most by the
    angle of each joint times the point's distance from that joint's axis. So the distances at one
    pose tell how far the path is free, up to TOLERANCE; the next check is at the end of that part.

    Raises MotionRefusedError for a path that takes more than MOST_CHECKS checks of all distances.
    """
    motion = np.abs(np.diff(path, axis=0)) @ model.reach  # [m] of any shape between two samples
    moved = np.concatenate([[0.0], np.cumsum(motion)])  # [m] until each sample
    narrow = {pair: it for pair, it in model.pairs(path[0]).items() if it < distance}
    place, looks = 0.0, 0  # [m] of the next check
    before = path[0]
    while place < moved[-1]:
        if looks == MOST_CHECKS:
            raise MotionRefusedError(
                f"the way needs more than {MOST_CHECKS} checks of the distances: send it in parts"
            )
        looks += 1
        sample = int(np.searchsorted(moved, place, side="right")) - 1
        part = (place - moved[sample]) / motion[sample]
        position = path[sample] + part * (path[sample + 1] - path[sample])
        room, clearance = _room(model, position, distance, narrow)
        if room < 0.0:
            return Conflict(sample, position, before, clearance)
        before = position
        place += room + TOLERANCE
    room, clearance = _room(model, path[-1], distance, narrow)
    return Conflict(len(path) - 1, path[-1], before, clearance) if room < 0.0 else None


def _room(
    model: CollisionModel, position: FloatArray, distance: float, narrow: Mapping[LinkPair, float]
) -> tuple[float, Clearance]:
    """Return how much nearer [m] the links may come, and the clearance of those with the least.

    `narrow`: pairs that may come as near as these distances [m], the others as `distance`.
    """
    if not narrow:
        clearance = model.clearance(position)
        return clearance.distance - distance, clearance
    found = (
        (apart - narrow.get(pair, distance), Clearance(apart, pair))
        for pair, apart in model.pairs(position).items()
    )
    none = DETECTED - distance, Clearance(DETECTED, None)
    return min([none, *found], key=lambda it: it[0])
