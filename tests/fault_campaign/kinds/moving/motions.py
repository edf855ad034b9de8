"""Motions whose targets lead links into each other, on the stepped robot.

There are no payload and no pushes: a push can move an arm away from its targets.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import Final

import numpy as np
from humanoid_control_msgs.msg import MITCommand

from fault_campaign.disturbing.stream import PERIOD
from fault_campaign.judging.links import distance
from fault_campaign.kinds.kind import Kind, Outcome, Scene
from fault_campaign.robot_joints import RobotJoints, simulated_description
from fault_campaign.scenario import Start
from humanoid_control_common.robot.joints import FloatArray, JointLimits
from humanoid_controller_manager.hardware.urdf import parse_robot_description

_SPEED: Final = 0.8  # [rad/s] of the joint with the longest way: soft arms cannot brake from more
_LASTS: Final = 4.0  # [s]
_DEEP: Final = -0.02  # [m] smallest overlap of the poses
_RATE: Final = 1.0 / PERIOD  # [Hz]


class _Collisions:
    """Moves from one pose with overlapping links to the next, at a limited speed."""

    def __init__(self, joints: RobotJoints, dice: Random) -> None:
        self._joints, self._dice = joints, dice
        self._here: FloatArray | None = None
        self._end = np.zeros(0)

    def change(self, message: MITCommand) -> None:
        """Put the next position into a command."""
        names = tuple(message.joint_names)
        if self._here is None:
            self._here = np.array(message.position)
            self._end = self._pose(names)
        way = self._end - self._here
        longest = float(np.abs(way).max())
        if longest < _SPEED * PERIOD:
            self._end = self._pose(names)
        else:
            self._here = self._here + way * _SPEED * PERIOD / longest
        message.position = self._here.tolist()

    def _pose(self, names: tuple[str, ...]) -> FloatArray:
        robot = self._joints.robot
        lower, upper = range_of(robot, names)
        while True:
            drawn = [self._dice.uniform(*ends) for ends in zip(lower, upper, strict=True)]
            if distance(robot, names, np.array(drawn)) < _DEEP:
                return np.array(drawn)


@cache
def limits_of(robot: str, names: tuple[str, ...]) -> JointLimits:
    """Return the limits of joints."""
    described = parse_robot_description(simulated_description(robot), _RATE)
    return described.limits.of(described.joints.indices(names))


def range_of(robot: str, names: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and highest target [rad] of joints."""
    limits = limits_of(robot, names)
    return limits.target_lower, limits.target_upper


def _collide(scene: Scene) -> None:
    assert scene.stream is not None, "commands come in REMOTE only"
    scene.stream.spoil(_Collisions(scene.robot.joints, scene.dice).change)


KINDS: Final = (
    Kind(
        name="command: links driven into each other",
        inject=_collide,
        starts=(Start.REMOTE,),
        outcome=Outcome.STAYS,
        watched=_LASTS,
        apart=True,
        alone=True,
    ),
)
