"""Faults of the commands in REMOTE."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from humanoid_control_msgs.msg import MITCommand

from fault_campaign.disturbing.stream import Stream
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.kind import Allowed, Kind, Outcome, Scene
from fault_campaign.scenario import Start

_REMOTE: Final = (Start.REMOTE,)
Change = Callable[[MITCommand, int], None]


def _stream(scene: Scene) -> Stream:
    assert scene.stream is not None, "commands come in REMOTE only"
    return scene.stream


def _spoil(change: Change) -> Callable[[Scene], None]:
    """Change all later commands; `change` gets the index of the joint that is struck."""

    def inject(scene: Scene) -> None:
        def spoil(message: MITCommand) -> None:
            change(message, message.joint_names.index(scene.joint))

        _stream(scene).spoil(spoil)

    return inject


def _put(field: str, value: float) -> Change:
    def change(message: MITCommand, joint: int) -> None:
        getattr(message, field)[joint] = value

    return change


def _other_order(message: MITCommand, _joint: int) -> None:
    message.joint_names = list(reversed(message.joint_names))


def _short(message: MITCommand, _joint: int) -> None:
    message.damping = message.damping[:-1]


def _unknown(message: MITCommand, joint: int) -> None:
    message.joint_names = [
        "tail" if number == joint else name for number, name in enumerate(message.joint_names)
    ]


def _jump(message: MITCommand, joint: int) -> None:
    message.position[joint] += 1.0


def _beyond(message: MITCommand, joint: int) -> None:
    message.position[joint] = 100.0


def _stale(scene: Scene) -> None:
    _stream(scene).silence()


def _seldom(scene: Scene) -> None:
    _stream(scene).hurry(0.15)


def _flood(scene: Scene) -> None:
    _stream(scene).hurry(0.001)


_SPOILT: Final[tuple[tuple[str, Change], ...]] = (
    ("NaN position", _put("position", math.nan)),
    ("NaN velocity", _put("velocity", math.nan)),
    ("infinite effort", _put("effort", math.inf)),
    ("infinite stiffness", _put("stiffness", math.inf)),
    ("negative damping", _put("damping", -5.0)),
    ("huge position", _put("position", 1e12)),
    ("huge velocity", _put("velocity", 50.0)),
    ("huge effort", _put("effort", 500.0)),
    ("huge stiffness", _put("stiffness", 5000.0)),
    ("huge damping", _put("damping", 200.0)),
    ("joints in another order", _other_order),
    ("an array too short", _short),
    ("an unknown joint", _unknown),
    ("a jump of 1 rad", _jump),
    ("a joint driven into its stop", _beyond),
)
_STREAMED: Final = (
    ("stream ends", _stale),
    ("stream too slow", _seldom),
    ("stream of 1 kHz", _flood),
)
# Commanded, and within the limits of the joint.
_SWINGS_ON: Final = (
    "an arm that is held against gravity swings past its target and meets the stop at speed: its "
    "next joint swings on"
)
_ALLOWED: Final = {
    # The limit stage limits it to the end of the joint's range.
    "huge position": (Allowed(ViolationType.JUMP, 0.1, _SWINGS_ON, robot="lite"),),
    "a joint driven into its stop": (Allowed(ViolationType.JUMP, 0.1, _SWINGS_ON),),
    "huge velocity": (
        Allowed(
            ViolationType.JUMP,
            0.06,
            "a wrist that goes at 3.1 rad/s at once: 2 Nm s/rad pull with 6 Nm, 0.05 rad in 20 ms",
        ),
        Allowed(
            ViolationType.JUMP,
            0.09,
            "a wrist that goes at 8 rad/s at once: its full effort, 7 Nm, turns it by 0.07 rad",
            robot="lite",
        ),
        Allowed(
            ViolationType.EFFORT,
            2.1,
            "a wrist yaw that the arm brakes by 1.5 rad/s within a period: 2 Nm s/rad pull with 3 "
            "Nm more than the loop computed, and its motor has 5.5 Nm",
            robot="lite",
        ),
    ),
    "huge stiffness": (
        Allowed(
            ViolationType.JUMP,
            0.06,
            "a wrist that is made stiff closes the 0.05 rad by which it sags and lags",
        ),
    ),
    "huge effort": (
        Allowed(
            ViolationType.JUMP,
            0.12,
            "the full effort of a wrist, 9 Nm, turns its 0.015 kg m2 by 0.12 rad in 20 ms",
        ),
        Allowed(
            ViolationType.SPEED,
            2.2,
            "a commanded effort alone speeds a joint up to its safety limit, twice its limit",
            robot="lite",
        ),
    ),
}


def _kind(name: str, inject: Callable[[Scene], None]) -> Kind:
    return Kind(
        name=f"command: {name}",
        inject=inject,
        starts=_REMOTE,
        outcome=Outcome.STAYS,
        watched=0.6,
        allowed=_ALLOWED.get(name, ()),
    )


KINDS: Final = (
    *(_kind(name, _spoil(change)) for name, change in _SPOILT),
    *(_kind(name, inject) for name, inject in _STREAMED),
)
