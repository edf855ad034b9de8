"""Faults by commands of the virtual robot: on frames with a probability, on motors and slaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from fault_campaign.kinds.kind import Act, Kind, Scene
from humanoid_control_common.rules.reasons import ReasonCode
from humanoid_twin.can.control import CanMethods
from humanoid_twin.robot.control import RobotControl

Disturb = Callable[[Scene, float], object]  # with a probability
LATE: Final = 0.03  # [s] delay of a frame
_PART, _ALL = ", 1 to 50 %", " all "  # in names of kinds


def chance(disturb: Disturb, low: float, high: float) -> Act:
    """Disturb with a random probability between `low` and `high`."""
    return lambda scene: disturb(scene, scene.dice.uniform(low, high))


def on_twin(act: Callable[[RobotControl], object]) -> Act:
    """Send a command to the virtual robot."""
    return lambda scene: act(scene.robot.twin)


def on_bus(act: Callable[[CanMethods], object]) -> Act:
    """Send a command about the CAN bus of the joint that is struck."""
    return lambda scene: act(scene.can)


def slave(act: Callable[[RobotControl, int], object]) -> Act:
    """Send a command about the drive of the joint that is struck."""
    return lambda scene: act(scene.robot.twin, scene.slave)


def motor(act: Callable[[CanMethods, int], object]) -> Act:
    """Send a command about the CAN motor of the joint that is struck."""
    return lambda scene: act(scene.can, scene.motor)


def rare(make: Callable[..., Kind], what: str, disturb: Disturb) -> Kind:
    """Disturb 1 to 50 % of the frames; `make` adds the other fields of the kind."""
    inject, mend = chance(disturb, 0.01, 0.5), chance(disturb, 0.0, 0.0)
    return make(name=f"{what}{_PART}", inject=inject, mend=mend)


def every(make: Callable[..., Kind], what: str, disturb: Disturb, code: ReasonCode) -> Kind:
    """Disturb all frames; `make` adds the other fields of the kind."""
    inject, mend = chance(disturb, 1.0, 1.0), chance(disturb, 0.0, 0.0)
    return make(name=what, inject=inject, mend=mend, codes=(code,))


def kind_of_frames(name: str) -> str:
    """Return the name of a kind without how many frames it disturbs."""
    return name.replace(_ALL, " ").removesuffix(_PART)
