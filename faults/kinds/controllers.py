"""What can go wrong in a controller, and in the thread of the ROS callbacks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from std_msgs.msg import String

from faults.kind import Kind, Scene
from faults.situation import Start

_FAILED: Final = "remote_policy_controller"
_REMOTE: Final = (Start.REMOTE,)


def _order(words: str) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.witness.orders.publish(String(data=words))


KINDS: Final = (
    Kind(
        name="controller: exception",
        inject=_order("raise"),
        starts=_REMOTE,
        said=f"{_FAILED}.*failed as ordered",
        quick=True,
    ),
    Kind(
        name="controller: NaN",
        inject=_order("nan"),
        starts=_REMOTE,
        said=f"{_FAILED}.*left_elbow_pitch",
    ),
    Kind(
        name="controller: negative gain",
        inject=_order("negative"),
        starts=_REMOTE,
        said=f"{_FAILED}.*left_wrist_pitch",
    ),
    Kind(
        name="controller: late by 50 ms",
        inject=_order("late 0.05"),
        starts=_REMOTE,
        said=_FAILED,
    ),
    Kind(
        name="controller: hangs for 1 s",
        inject=_order("late 1.0"),
        starts=_REMOTE,
        watched=1.5,
        within=1.5,
        said=f"{_FAILED}|PrimeEtherCATSide|control loop",
    ),
    Kind(
        name="ROS callbacks: blocked for 1 s",
        inject=_order("block 1.0"),
        starts=_REMOTE,
        watched=1.3,
        within=0.8,
        said="ROS side silent|impedance manager silent",
        quick=True,
    ),
)
