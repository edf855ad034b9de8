"""Whether the robot keeps its links apart on a whole way, between the samples, too."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from humanoid_control_common.joints import FloatArray
from humanoid_motion.collision.clearance import Clearance
from humanoid_motion.collision.collision_model import CollisionModel

TOLERANCE: Final = 0.002  # [m]; the distance between two checked poses may be smaller by this


@dataclass(frozen=True, slots=True)
class Conflict:
    """The first place of a way where two links come too near."""

    sample: int  # index of the sample before it
    position: FloatArray  # (n_joints,) [rad]
    clearance: Clearance


def first_conflict(model: CollisionModel, way: FloatArray, distance: float) -> Conflict | None:
    """Return the first place of `way` (n_samples, n_joints) [rad] nearer than `distance` [m].

    The way is straight in joint space between two samples. From a pose whose links are d apart the
    check goes on to where none can have come nearer than `distance` - TOLERANCE: a point moves by
    the angle of each joint times its distance from that joint's axis at most.
    """
    unchecked = 0.0  # [m] that shapes may move before the next check
    for sample, (begin, end) in enumerate(pairwise(way)):
        motion = float(np.abs(end - begin) @ model.reach)  # [m]
        done = 0.0
        while motion - done > unchecked:
            done += unchecked
            position = begin + done / motion * (end - begin)
            clearance = model.clearance(position)
            if clearance.distance < distance:
                return Conflict(sample, position, clearance)
            unchecked = clearance.distance - distance + TOLERANCE
        unchecked -= motion - done
    clearance = model.clearance(way[-1])
    if clearance.distance < distance:
        return Conflict(len(way) - 1, way[-1], clearance)
    return None
