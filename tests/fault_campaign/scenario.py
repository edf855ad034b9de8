"""Scenario in which a fault comes, drawn from one seed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from random import Random
from typing import Final

# Torque [Nm] that moves a limp joint by less than its limit in half a second.
_PUSH: Final = 0.3
_PUSH_OF_LIGHT: Final = 0.05  # for joints with a small inertia
_LIGHT: Final = ("wrist", "yaw")  # in their names
HANDS: Final = ("left_wrist_yaw_link", "right_wrist_yaw_link")


class Start(Enum):
    """Modes, and their progress when the fault comes."""

    ZERO_TORQUE = "ZERO_TORQUE"
    DAMPING = "DAMPING"
    STANDBY_MOVING = "STANDBY, on its way"
    STANDBY_FINISHED = "STANDBY, finished"
    REMOTE = "REMOTE, moving"
    LOCOMOTION = "LOCOMOTION, moving"
    TRAJECTORIES = "REMOTE by trajectories"
    JOINT_STREAM = "REMOTE by the joint stream"


STIFF: Final = (Start.STANDBY_MOVING, Start.STANDBY_FINISHED, Start.REMOTE)
# Without LOCOMOTION: for the robot it is REMOTE with another source of commands.
ALL: Final = (Start.ZERO_TORQUE, Start.DAMPING, *STIFF)


@dataclass(frozen=True, slots=True)
class Wave:
    """Smooth motion of one joint around its first position."""

    amplitude: float  # [rad]
    frequency: float  # [Hz]

    def offset(self, elapsed: float) -> float:
        """Return the angle [rad] after `elapsed` [s]: it begins at 0 with at most 0.6 rad/s."""
        return self.amplitude * math.sin(math.tau * self.frequency * elapsed)


@dataclass(frozen=True, slots=True)
class Scenario:
    """State of the robot when the fault comes."""

    start: Start
    payload: float  # [kg] at each hand
    pushes: dict[str, float]  # [Nm] external, by joint; limp joints are pushed until the fault
    waves: dict[str, Wave]  # in REMOTE, by joint
    wait: float  # [s] from the mode to the fault


def push_of(joint: str) -> float:
    """Return the largest torque [Nm] with which a joint is pushed."""
    return _PUSH_OF_LIGHT if any(word in joint for word in _LIGHT) else _PUSH


def draw(dice: Random, starts: Sequence[Start], joints: Sequence[str]) -> Scenario:
    """Return a random scenario of a robot with these joints; its start is one of `starts`."""
    start = dice.choice(starts)
    pushed = dice.sample(joints, dice.randrange(4))
    return Scenario(
        start=start,
        payload=dice.choice((0.0, dice.uniform(0.1, 0.8))),
        pushes={joint: dice.uniform(-1.0, 1.0) * push_of(joint) for joint in pushed},
        waves={
            joint: Wave(dice.uniform(0.03, 0.2) * dice.choice((-1, 1)), dice.uniform(0.15, 0.45))
            for joint in joints
        },
        wait=dice.uniform(0.05, 0.5),
    )
