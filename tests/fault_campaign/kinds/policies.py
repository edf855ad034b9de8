"""Faults of the policy in LOCOMOTION: late actions, actions that are not finite or too large."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final

from std_msgs.msg import String

from fault_campaign.campaign_controllers import POLICY
from fault_campaign.kinds.kind import Kind, Recovery, Scene
from fault_campaign.scenario import Start
from humanoid_policy.reason_codes import POLICY_LATE, POLICY_NOT_FINITE, POLICY_OUT_OF_LIMITS


def _order(words: str) -> Callable[[Scene], None]:
    return lambda scene: scene.robot.observer.policy_orders.publish(String(data=words))


# Alone: no other kind begins in LOCOMOTION.
_kind: Final = partial(Kind, starts=(Start.LOCOMOTION,), alone=True)

KINDS: Final = (
    _kind(
        name="policy: late by 100 ms",
        inject=_order("late 0.1"),
        codes=(POLICY_LATE,),
        named=(POLICY, "no action within"),
    ),
    _kind(
        name="policy: silent for ever",
        inject=_order("late 1e6"),
        codes=(POLICY_LATE,),
        named=(POLICY, "no action within"),
        recovery=Recovery.RESTART,  # its thread never returns
    ),
    _kind(
        name="policy: NaN",
        inject=_order("nan"),
        codes=(POLICY_NOT_FINITE,),
        named=(POLICY, "expected a finite number"),
    ),
    _kind(
        name="policy: an action beyond the limits",
        inject=_order("far"),
        codes=(POLICY_OUT_OF_LIMITS,),
        named=(POLICY, "position", "allowed"),
    ),
)
