"""Contacts of the links of a robot, by the truth."""

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from fault_campaign.judging.bounds import STEP
from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.robot_joints import RobotJoints, simulated_description
from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.collision.collision_model import CollisionModel
from humanoid_twin.physics.recorder import Recording

EVERY: Final = 4  # [ms] between two checks
# [s] that links may touch in all: soft arms sag and swing into the 20 mm between their targets.
TOUCHES: Final = 0.5


@cache
def _model(robot: str, names: tuple[str, ...]) -> CollisionModel:
    """Return the shapes of the virtual robot: only links of one joint may overlap."""
    return CollisionModel(simulated_description(robot), names)


def prepare(joints: RobotJoints) -> None:
    """Make the shapes of a robot's links, once for all trials on copies of this process."""
    _model(joints.robot, joints.all)


def distance(robot: str, names: tuple[str, ...], position: FloatArray) -> float:
    """Return the distance [m] of the nearest two links at `position` [rad] of the joints `names`.

    Negative: they overlap. At most DETECTED.
    """
    return _model(robot, names).clearance(position).distance


def contacts(recording: Recording, begin: float, end: float, robot: str) -> list[Violation]:
    """Return the first contact of two links between `begin` and `end` [s], if it is a violation."""
    model = _model(robot, recording.names)
    rows = np.flatnonzero((recording.time >= begin) & (recording.time <= end))[::EVERY]
    found = [model.clearance(recording.position[row]) for row in rows]
    touching = [i for i, it in enumerate(found) if it.distance < 0.0]
    lasts = len(touching) * EVERY * STEP
    if lasts <= TOUCHES:
        return []
    depth = -min(it.distance for it in found)
    text = f"{found[touching[0]].links} touch, for {lasts:.2f} s in all, {depth * 1e3:.1f} mm deep"
    return [Violation(ViolationType.CONTACT, text, float(recording.time[rows[touching[0]]]))]
