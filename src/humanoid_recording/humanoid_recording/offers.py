"""The qualities of service that publishers offer, as rosbag2 writes them (its format 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml
from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    QoSPolicyEnum,
    QoSProfile,
    ReliabilityPolicy,
)

from humanoid_control_common.errors import RobotError

LISTENER_DEPTH: Final = 1000  # messages the middleware keeps for us: seconds of everything
# Messages kept for listeners that come later. Each publisher kept its own latest one, here one
# publisher speaks for all of them; and how many a publisher keeps, discovery doesn't tell.
LATCHED_DEPTH: Final = 16
_SECOND: Final = 1_000_000_000  # [ns]


def to_plain(offers: Sequence[QoSProfile]) -> list[dict[str, Any]]:
    """The offers of a topic's publishers, to be written as YAML."""
    return [
        {
            "history": _word(offer.history),
            "depth": offer.depth,
            "reliability": _word(offer.reliability),
            "durability": _word(offer.durability),
            "deadline": _time(offer.deadline),
            "lifespan": _time(offer.lifespan),
            "liveliness": _word(offer.liveliness),
            "liveliness_lease_duration": _time(offer.liveliness_lease_duration),
            "avoid_ros_namespace_conventions": bool(offer.avoid_ros_namespace_conventions),
        }
        for offer in offers
    ]


def to_listen(offers: Sequence[QoSProfile]) -> QoSProfile:
    """What to ask for, so that every publisher is heard, and as much of it as possible."""
    reliable = all(offer.reliability is ReliabilityPolicy.RELIABLE for offer in offers)
    latched = all(offer.durability is DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return _profile(LISTENER_DEPTH, reliable=reliable, latched=latched)


def to_publish(recorded: str) -> QoSProfile:
    """For one publisher in place of all that were recorded; `recorded` is YAML, old or new.

    Raises RobotError if that isn't a list of offers.
    """
    try:
        offers = yaml.safe_load(recorded) or []
        reliable = [not _is(o["reliability"], ReliabilityPolicy.BEST_EFFORT) for o in offers]
        latched = [_is(o["durability"], DurabilityPolicy.TRANSIENT_LOCAL) for o in offers]
    except (yaml.YAMLError, TypeError, KeyError) as error:
        raise RobotError(f"offered_qos_profiles of a channel can't be read: {error!r}") from error
    if latched and all(latched):
        return _profile(LATCHED_DEPTH, reliable=all(reliable), latched=True)
    return _profile(LISTENER_DEPTH, reliable=all(reliable), latched=False)


def _profile(depth: int, *, reliable: bool, latched: bool) -> QoSProfile:
    return QoSProfile(
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def _word(policy: QoSPolicyEnum) -> str:
    return str(policy.name).lower()


def _time(duration: Duration) -> Mapping[str, int]:
    seconds, nanoseconds = divmod(duration.nanoseconds, _SECOND)
    return {"sec": seconds, "nsec": nanoseconds}


def _is(recorded: object, policy: QoSPolicyEnum) -> bool:
    """Whether a policy, a word or in older bags a number, is `policy`."""
    return recorded in {_word(policy), int(policy)}
