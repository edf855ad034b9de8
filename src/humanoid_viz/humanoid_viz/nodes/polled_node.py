"""Subscriptions without an executor: the node takes messages when it has time."""

import time
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

from rclpy.callback_groups import CallbackGroup
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import deserialize_message

# Messages kept between two polls: half a second, when no browser is open, at 1 kHz.
STREAM = QoSProfile(depth=500)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A message per safety source, and a subscriber's depth counts those of all publishers together.
LATCHED_PER_SOURCE = QoSProfile(depth=64, durability=DurabilityPolicy.TRANSIENT_LOCAL)


Message = TypeVar("Message")


class PolledGroup(CallbackGroup):  # type: ignore[misc]  # rclpy counts as untyped
    """Keeps its subscriptions out of every executor's wait set."""

    def can_execute(self, entity: Any) -> bool:  # noqa: D102
        return False

    def beginning_execution(self, entity: Any) -> bool:  # noqa: D102
        return False

    def ending_execution(self, entity: Any) -> None:  # noqa: D102
        pass


class PolledTopic(Generic[Message]):
    """A subscription without callback.

    Waking up for each of 200 messages a second costs rclpy 16 % of a core; polling 30 times
    a second costs 2 %.
    """

    def __init__(
        self, node: Node, message_type: type[Message], topic: str, qos: QoSProfile
    ) -> None:
        self._type = message_type
        self._subscription = node.create_subscription(
            message_type, topic, lambda _: None, qos, callback_group=PolledGroup()
        )

    def take(self) -> tuple[Message | None, list[float]]:
        """Return the latest message since the last call, and all arrival times [s, monotonic]."""
        taken = list(self._taken())
        latest = deserialize_message(taken[-1][0], self._type) if taken else None
        return latest, [arrival for _, arrival in taken]

    def take_all(self) -> Iterator[tuple[Message, float]]:
        """Yield every message since the last call with its arrival time [s, monotonic]."""
        for raw, arrival in self._taken():
            yield deserialize_message(raw, self._type), arrival

    def _taken(self) -> Iterator[tuple[bytes, float]]:
        # The call that executors make; there is no public one that doesn't wait.
        handle = self._subscription.handle
        with handle:
            while (taken := handle.take_message(self._type, True)) is not None:
                raw, info = taken
                yield raw, _monotonic(info["received_timestamp"])


def _monotonic(received: int) -> float:
    """Return a wall time [ns] on the monotonic clock [s]; now, if the middleware gave none."""
    age = time.time() - received * 1e-9 if received > 0 else 0.0
    return time.monotonic() - max(0.0, age)
