"""Listens to topics as soon as they exist, and hands on what comes, byte by byte as it came."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from rclpy.node import Node
from rclpy.topic_endpoint_info import TopicEndpointInfo

from humanoid_recording.definitions import (
    UnknownTypeError,
    definition,
    message_class,
    type_hash,
)
from humanoid_recording.offers import to_listen, to_plain
from humanoid_recording.recording import Arrived, Recording
from humanoid_recording.summary import Topic


class NodeRecorder:
    """Has `node` listen to `topics` for `recording`; `say` tells people what is recorded."""

    def __init__(
        self, node: Node, topics: Iterable[str], recording: Recording, say: Callable[[str], None]
    ) -> None:
        self._node = node
        self._missing = list(dict.fromkeys(topics))
        self._recording = recording
        self._say = say

    def look(self) -> None:
        """Begin with the topics that have a publisher by now."""
        for name in tuple(self._missing):
            publishers = self._node.get_publishers_info_by_topic(name)
            if publishers:
                self._missing.remove(name)
                try:
                    self._begin(name, publishers)
                except UnknownTypeError as error:
                    self._say(f"not recorded: {name}: {error}")

    def _begin(self, name: str, publishers: list[TopicEndpointInfo]) -> None:
        type_name = publishers[0].topic_type
        qos = [publisher.qos_profile for publisher in publishers]
        topic = Topic(name, type_name, _hash(publishers), definition(type_name), to_plain(qos))
        self._recording.add_topic(topic)
        self._node.create_subscription(
            message_class(type_name), name, partial(self._take, name), to_listen(qos), raw=True
        )
        self._say(f"recording {name}")

    def _take(self, topic: str, data: bytes, info: dict[str, Any]) -> None:
        # 0: a middleware that doesn't tell
        arrival = info["received_timestamp"] or time.time_ns()
        published = info["source_timestamp"] or arrival
        self._recording.add(Arrived(topic, data, arrival, published))


def _hash(publishers: list[TopicEndpointInfo]) -> str:
    """The hash of the type that all publishers agree on with this machine.

    Raises UnknownTypeError if they don't: their messages would be misread.
    """
    type_name = publishers[0].topic_type
    installed = type_hash(type_name)
    for publisher in publishers:
        theirs = str(publisher.topic_type_hash)  # "INVALID" of those that don't tell
        if publisher.topic_type != type_name or theirs not in {installed, "INVALID"}:
            raise UnknownTypeError(
                f"node {publisher.node_name} publishes {publisher.topic_type} ({theirs}), "
                f"expected {type_name} as it is installed here ({installed})"
            )
    return installed
