"""Joints that aren't where their drives believe."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from faults.kind import CAN_ONLY, RING_ONLY, Kind, Outcome, Scene
from faults.situation import STIFF
from humanoid_twin.prime import RING_JOINTS

# [rad] further than a joint may go in the two ticks that are doubted, and further than what is left
# when the drive has pulled the joint back in the first of them.
_FAR: Final = (0.6, 0.75)
_FAR_CAN: Final = (0.32, 0.38)  # [rad] the same of a wrist; a motor pulls with 20 Nm/rad at once
_NEAR: Final = (0.02, 0.15)  # [rad] what a joint could have gone in a tick
# A motor that measures no motion doesn't damp it either.
_UNNOTICED: Final = "a joint that seems to stand still under a third of its effort may be stuck"


def _stick(scene: Scene) -> None:
    scene.robot.twin.stick_encoder(scene.joint)


def _right(scene: Scene) -> None:
    scene.robot.twin.shift_encoder(scene.joint, 0.0)


def _far(scene: Scene) -> None:
    _shift(scene, _FAR if scene.joint in RING_JOINTS else _FAR_CAN)


def _near(scene: Scene) -> None:
    _shift(scene, _NEAR)


def _shift(scene: Scene, way: tuple[float, float]) -> None:
    angle = scene.dice.uniform(*way) * scene.dice.choice((-1, 1))
    scene.robot.twin.shift_encoder(scene.joint, angle)


def _kinds(bus: str, joints: Sequence[str]) -> list[Kind]:
    kind = partial(Kind, mend=_right, joints=joints)
    return [
        kind(
            name=f"{bus}: encoder stuck",
            inject=_stick,
            outcome=Outcome.EITHER,
            watched=0.8,
            within=1.0,
            known=_UNNOTICED,
        ),
        kind(
            name=f"{bus}: encoder jumps by a little",
            inject=_near,
            outcome=Outcome.EITHER,
            watched=0.6,
        ),
        kind(
            name=f"{bus}: encoder jumps",
            inject=_far,
            starts=STIFF,
            said="{joint} (is .* from where|moved|moves)",
            jump=0.1,  # the drive follows its encoder until the loop has seen it twice
            quick=bus == "ring",
        ),
    ]


KINDS: Final = (*_kinds("ring", RING_ONLY), *_kinds("can", CAN_ONLY))
