"""Quality of service: the offers of publishers as rosbag2 writes them (its format 9)."""

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

LISTENER_DEPTH: Final = 1000  # messages that the middleware keeps: seconds of all topics
# Messages kept for later subscribers. In a replay one publisher stands for all recorded ones, each
# of which kept its own latest ones; discovery doesn't state how many.
LATCHED_DEPTH: Final = 16
_SECOND: Final = 1_000_000_000  # [ns]


def plain_offers(offers: Sequence[QoSProfile]) -> list[dict[str, Any]]:
    """Return the offers of a topic's publishers as values for YAML."""
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


def subscription_qos(offers: Sequence[QoSProfile]) -> QoSProfile:
    """Return the strictest request that all publishers of a topic meet."""
    reliable = all(offer.reliability is ReliabilityPolicy.RELIABLE for offer in offers)
    latched = all(offer.durability is DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return _profile(LISTENER_DEPTH, reliable=reliable, latched=latched)


def replay_qos(recorded: str) -> QoSProfile:
    """Return the profile of one publisher in place of all recorded ones.

    `recorded` is YAML of any of rosbag2's formats. Raises RobotError if it isn't a list of offers.
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
    """Return whether a recorded policy, a word or in older bags a number, is `policy`."""
    return recorded in {_word(policy), int(policy)}
