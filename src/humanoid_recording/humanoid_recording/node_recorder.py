"""Subscribe to topics as soon as they exist, and record their messages byte by byte."""

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

from humanoid_recording.definitions import (
    UnknownTypeError,
    definition,
    message_class,
    type_hash,
)
from humanoid_recording.qos_profiles import plain_offers, subscription_qos
from humanoid_recording.recording import ReceivedMessage, Recording
from humanoid_recording.summary import Topic

SET: Final = 500_000_000  # [ns] by which a system clock that was set differs from before, at least


class NodeRecorder:
    """Subscribes `node` to `topics` for `recording`; `notify` gets a line for each topic.

    `lost` counts the messages that did not arrive, by the numbers that the middleware of a topic's
    only publisher counts. Messages do not name their publisher: several are not told apart.
    """

    def __init__(
        self, node: Node, topics: Iterable[str], recording: Recording, notify: Callable[[str], None]
    ) -> None:
        self._node = node
        self._missing = list(dict.fromkeys(topics))
        self._recording = recording
        self._notify = notify
        # Of the recording's times, and after it those since the system clock was set.
        self._offsets = [_offset()]
        self.lost = 0
        self._numbers: dict[str, int] = {}  # of the latest message, by topic
        self._publishers: dict[str, tuple[int, ...]] = {}  # the only one, by topic; (): several

    def subscribe_new(self) -> None:
        """Subscribe to the topics that have got a publisher since the last call."""
        for name in tuple(self._missing):
            publishers = self._node.get_publishers_info_by_topic(name)
            if publishers:
                self._missing.remove(name)
                try:
                    self._begin(name, publishers)
                except UnknownTypeError as error:
                    self._notify(f"not recorded: {name}: {error}")

    def _begin(self, name: str, publishers: list[TopicEndpointInfo]) -> None:
        type_name = publishers[0].topic_type
        qos = [publisher.qos_profile for publisher in publishers]
        topic = Topic(name, type_name, _hash(publishers), definition(type_name), plain_offers(qos))
        self._recording.add_topic(topic)
        self._publishers[name] = _only(publishers)
        self._node.create_subscription(
            message_class(type_name),
            name,
            partial(self._take, name),
            subscription_qos(qos),
            raw=True,
        )
        self._notify(f"recording {name}")

    def _take(self, topic: str, data: bytes, info: dict[str, Any]) -> None:
        number = info.get("publication_sequence_number")
        if number is not None:  # None: this middleware does not count
            self._count(topic, number)
        # 0: the middleware has no time stamps
        arrival = info["received_timestamp"] or time.time_ns()
        published = info["source_timestamp"]
        if published <= 0:  # unknown, or before the epoch, which a bag cannot hold
            published = arrival
        self._recording.add(ReceivedMessage(topic, data, self._time(arrival), published))

    def _count(self, topic: str, number: int) -> None:
        expected = self._numbers.get(topic, number - 1) + 1
        self._numbers[topic] = number
        if number == expected:
            return
        before = self._publishers[topic]
        publisher = _only(self._node.get_publishers_info_by_topic(topic))
        self._publishers[topic] = publisher
        if publisher and publisher == before:
            self.lost += max(number - expected, 0)

    def _time(self, arrival: int) -> int:
        """Return the time of `arrival` in the recording: a clock that is set makes no gap in it."""
        offset = _offset()
        if abs(offset - self._offsets[-1]) >= SET:
            self._offsets.append(offset)
        first = self._offsets[0]
        now = time.monotonic_ns() + first
        # It may have arrived before the clock was set.
        possible = (arrival - it + first for it in self._offsets)
        return min(possible, key=lambda it: abs(now - it))


def _offset() -> int:
    """Return the system's time minus the monotonic one [ns]."""
    return time.time_ns() - time.monotonic_ns()


def _only(publishers: list[TopicEndpointInfo]) -> tuple[int, ...]:
    """Return the identity of the only publisher; empty if there are several, or none."""
    return tuple(publishers[0].endpoint_gid) if len(publishers) == 1 else ()


def _hash(publishers: list[TopicEndpointInfo]) -> str:
    """Return the hash of the type, which must be that of all publishers and of this machine.

    Raises UnknownTypeError if one differs: its messages would be misread.
    """
    type_name = publishers[0].topic_type
    installed = type_hash(type_name)
    for publisher in publishers:
        theirs = str(publisher.topic_type_hash)  # "INVALID": the publisher has none
        if publisher.topic_type != type_name or theirs not in {installed, "INVALID"}:
            raise UnknownTypeError(
                f"node {publisher.node_name} publishes {publisher.topic_type} ({theirs}), "
                f"expected {type_name} as it is installed here ({installed})"
            )
    return installed
