"""What can go wrong in a controller, and in the thread of the ROS callbacks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from std_msgs.msg import String

from faults.kind import Kind, Scene
from faults.situation import Start

_FAILED: Final = "remote_policy_controller"
_REMOTE: Final = (Start.REMOTE,)


def _order(words: str) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.witness.orders.publish(String(data=words))


_kind: Final = partial(Kind, starts=_REMOTE)

KINDS: Final = (
    _kind(
        name="controller: exception",
        inject=_order("raise"),
        said=f"{_FAILED}.*failed as ordered",
        quick=True,
    ),
    _kind(name="controller: NaN", inject=_order("nan"), said=f"{_FAILED}.*left_elbow_pitch"),
    _kind(
        name="controller: negative gain",
        inject=_order("negative"),
        said=f"{_FAILED}.*left_wrist_pitch",
    ),
    _kind(name="controller: late by 50 ms", inject=_order("late 0.05"), said=_FAILED),
    _kind(
        name="controller: hangs for 1 s",
        inject=_order("late 1.0"),
        watched=1.5,
        within=1.5,
        said=f"{_FAILED}|PrimeEtherCATSide|control loop",
    ),
    _kind(
        name="ROS callbacks: blocked for 1 s",
        inject=_order("block 1.0"),
        watched=1.3,
        within=0.8,
        said="ROS side silent|impedance manager silent",
        quick=True,
    ),
)
