"""Payloads that are reported to the control process and do not exist, on the stepped robot.

The compensation holds the arm against a weight that it does not carry: the arm rises as far as its
stiffness permits.
"""

from __future__ import annotations

import math
from typing import Final

from humanoid_control_msgs.msg import Payload
from humanoid_control_msgs.srv import SetPayload

from fault_campaign.kinds.kind import Kind, Outcome, RefutedError, Scene
from fault_campaign.scenario import HANDS, Start

_SERVICE: Final = "controller_manager/set_payload"
_HEAVIEST: Final = 3.0  # [kg], the product's largest_payload
_FAR: Final = 0.1  # [m] from the origin of the hand's link
_ANSWERED: Final = 2.0  # [s] timeout of a request
_RISES: Final = 1.2  # [s]: the compensation grows for a second


def _wrong(hand: str) -> list[Payload]:
    """Return invalid payloads: each must be refused."""
    return [
        Payload(link=hand, mass=math.nan),
        Payload(link=hand, mass=-0.5),
        Payload(link=hand, mass=1.01 * _HEAVIEST),
        Payload(link=hand, mass=1.0, centre_of_mass=[0.0, math.inf, 0.0]),
        Payload(link=hand, mass=1.0, centre_of_mass=[0.0, 0.0, -1.5]),
        Payload(link="tail", mass=1.0),
    ]


def _lie(scene: Scene) -> None:
    """Report payloads that do not exist, and an invalid one between them.

    Raises RefutedError if the answers are wrong.
    """
    dice = scene.dice
    for _ in range(dice.randint(1, 3)):
        hand = dice.choice(HANDS)
        wrong = dice.choice(_wrong(hand))
        if _told(scene, wrong):
            raise RefutedError(f"a payload that is none was accepted: {wrong}")
        place = [dice.uniform(-_FAR, _FAR) for _ in range(3)]
        mass = dice.uniform(0.3, 1.0) * _HEAVIEST
        if not _told(scene, Payload(link=hand, mass=mass, centre_of_mass=place)):
            raise RefutedError(f"{mass:.2f} kg at {hand} were refused")
        scene.robot.observer.within(dice.uniform(0.0, _RISES), lambda: False)


def _forget(scene: Scene) -> None:
    """Report empty hands. Raises RefutedError if that is refused."""
    for hand in HANDS:
        if not _told(scene, Payload(link=hand, mass=0.0)):
            raise RefutedError(f"an empty {hand} was refused")


def _told(scene: Scene, payload: Payload) -> bool:
    request = SetPayload.Request(payload=payload)
    answer = scene.robot.observer.answer(SetPayload, _SERVICE, request, _ANSWERED)
    if answer is None:
        raise RefutedError(f"set_payload: no answer within {_ANSWERED:g} s")
    if not (answer.success or answer.message):
        raise RefutedError("set_payload: refused without a reason")
    return bool(answer.success)


KINDS: Final = (
    Kind(
        name="command: payloads that are not there",
        inject=_lie,
        mend=_forget,
        starts=(Start.REMOTE,),  # held against gravity in the campaign
        outcome=Outcome.STAYS,
        watched=_RISES,
        alone=True,
    ),
)
