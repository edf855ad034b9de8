"""The middleware in memory: topics and services, with delays and losses of a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message, serialize_message

from humanoid_stepped.scheduler import Scheduler

if TYPE_CHECKING:
    from humanoid_stepped.ros.entities import Client, Publisher, Service, Subscription

SHORTEST: Final = 80_000  # [ns] from publishing to the subscription's queue
USUAL: Final = 400_000  # [ns] more, at most
SLOW: Final = 8_000_000  # [ns] more, at most, of the few that are slow
SLOW_SHARE: Final = 0.01  # of all messages


@dataclass(slots=True)
class Disturbance:
    """Faults of the messages on their way."""

    lost: float = 0.0  # share of the best-effort messages
    late: float = 0.0  # [s] more for each message, at most


@dataclass(slots=True)
class Topic:
    """The ends of one topic."""

    publishers: list[Publisher] = field(default_factory=list)
    subscriptions: list[Subscription] = field(default_factory=list)


class CarriedMessage:
    """A message on its way: its bytes at the time of publishing, as rclpy makes them.

    Args:
        kind: of the message.
        published: object or bytes.
    """

    def __init__(self, kind: Any, published: Any) -> None:
        self._kind = kind
        self.data: bytes = (
            published if isinstance(published, bytes) else serialize_message(published)
        )
        self._content: Any = None

    @property
    def content(self) -> Any:
        """Return the message for readers that do not change it: all get the same object."""
        if self._content is None:
            self._content = self.received()
        return self._content

    def received(self) -> Any:
        """Return the message for one receiver."""
        return deserialize_message(self.data, self._kind)


def copied(message: Any) -> Any:
    """Return what the other end receives of a request or a response."""
    return deserialize_message(serialize_message(message), type(message))


class Bus:
    """All topics and services of one robot.

    Messages of one sender to one receiver stay in order.
    """

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.disturbance = Disturbance()
        self.topics: dict[str, Topic] = {}
        self.services: dict[str, list[Service]] = {}
        self.clients: dict[str, list[Client]] = {}
        # Called with the topic and the message of each publication, at its time.
        self.listeners: list[Callable[[str, Any], None]] = []
        self._latest: dict[
            tuple[object, object], int
        ] = {}  # [ns] of the last arrival, by both ends

    def topic(self, name: str) -> Topic:
        """Return a topic; it is made by its first user."""
        return self.topics.setdefault(name, Topic())

    def publish(self, publisher: Publisher, message: CarriedMessage) -> None:
        """Send `message` to every subscription that there is now."""
        for listener in self.listeners:
            listener(publisher.topic_name, message.content)
        sent = self.scheduler.now
        for subscription in self.topic(publisher.topic_name).subscriptions:
            self._send(publisher, subscription, message, sent)

    def join(self, subscription: Subscription) -> None:
        """Add a subscription; publishers that keep their latest messages send them again."""
        topic = self.topic(subscription.topic_name)
        topic.subscriptions.append(subscription)
        if subscription.qos.durability is DurabilityPolicy.TRANSIENT_LOCAL:
            for publisher in topic.publishers:
                for message in publisher.kept:
                    self._send(publisher, subscription, message, self.scheduler.now)

    def carry(self, sender: object, receiver: object, arrive: Callable[[], None]) -> None:
        """Call `arrive` after the delay of a message from `sender` to `receiver`."""
        random, ends = self.scheduler.random, (sender, receiver)
        delay = SHORTEST + random.randrange(USUAL)
        if random.random() < SLOW_SHARE:
            delay += random.randrange(SLOW)
        if self.disturbance.late:
            delay += round(random.random() * self.disturbance.late * 1e9)
        arrival = max(self.scheduler.now + delay, self._latest.get(ends, 0) + 1)
        self._latest[ends] = arrival
        self.scheduler.call_at(arrival, arrive)

    def _send(
        self, publisher: Publisher, subscription: Subscription, message: CarriedMessage, sent: int
    ) -> None:
        if not fits(publisher.qos, subscription.qos):
            return
        best_effort = subscription.qos.reliability is ReliabilityPolicy.BEST_EFFORT
        if best_effort and self.scheduler.random.random() < self.disturbance.lost:
            return
        self.carry(publisher, subscription, lambda: subscription.arrive(message, sent))


def fits(offered: QoSProfile, requested: QoSProfile) -> bool:
    """Return whether a subscription receives anything of a publisher."""
    best_effort, volatile = ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE
    reliable = requested.reliability is best_effort or offered.reliability is not best_effort
    return reliable and (
        requested.durability is not DurabilityPolicy.TRANSIENT_LOCAL
        or offered.durability is not volatile
    )
