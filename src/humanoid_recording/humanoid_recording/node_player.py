"""Replay the observations of a bag, and none of its requests."""

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.serialization import deserialize_message

from humanoid_recording.black_box.messages import EVENTS
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.definitions import (
    ChangedTypeError,
    UnknownTypeError,
    message_class,
    recorded_class,
)
from humanoid_recording.qos_profiles import replay_qos
from humanoid_recording.reader import RecordedMessage
from humanoid_recording.topics import CONTROL_MODE, OBSERVATIONS, split_topic


class NodePlayer:
    """Publishes recorded observations with `node`; `notify` gets a line for each topic left out.

    Only those of the robot in the node's own namespace. Lines of ROS' log go to `notify`, too.
    """

    def __init__(self, node: Node, notify: Callable[[str], None]) -> None:
        self.count = 0  # messages published
        self.requests = 0  # for modes, which are left out
        self._node = node
        self._notify = notify
        self._publishers: dict[str, Any] = {}  # by topic; None: not replayed
        self._latest: dict[str, bytes] = {}  # by topic that is replayed

    def publish(self, recorded: RecordedMessage) -> None:
        """Publish a message if it is an observation. Raises BagError for one that can't be read."""
        topic = recorded.channel.topic
        if topic == EVENTS:
            self._notify(_text(recorded))
            return
        if topic not in self._publishers:
            self._publishers[topic] = self._begin(recorded)
        publisher = self._publishers[topic]
        if publisher is None:
            return
        if topic.endswith(f"/{CONTROL_MODE}") and _is_request(recorded):
            self.requests += 1
            return
        publisher.publish(recorded.data)
        self._latest[topic] = recorded.data
        self.count += 1

    def repeat(self) -> None:
        """Publish the latest message of each topic again, so that none is reported lost."""
        for topic, data in self._latest.items():
            self._publishers[topic].publish(data)

    def _begin(self, recorded: RecordedMessage) -> Any:
        """Return a publisher for the topic of `recorded`; None if the topic isn't replayed."""
        channel = recorded.channel
        if obstacle := self._obstacle(channel.topic):
            self._notify(f"not replayed: {channel.topic}: {obstacle}")
            return None
        try:
            kind = recorded_class(recorded.schema.name, recorded.schema.data)
        except (UnknownTypeError, ChangedTypeError) as error:
            self._notify(f"not replayed: {channel.topic}: {error}")
            return None
        qos = replay_qos(channel.metadata.get("offered_qos_profiles", ""))
        return self._node.create_publisher(kind, channel.topic, qos)

    def _obstacle(self, topic: str) -> str:
        """Return why a topic is not replayed; empty if it is."""
        found = split_topic(topic, OBSERVATIONS)
        if found is None:
            return "it is no observation"
        namespace = found[0] or "/"
        if namespace != self._node.get_namespace():
            return f"it is of the robot in {namespace}: `hc --namespace {namespace} replay …`"
        return ""


def _text(recorded: RecordedMessage) -> str:
    """Return a line of the log: its logger and its text. Raises BagError if it can't be read."""
    line = _message(recorded)
    return f"{line.name}: {line.msg}"


def _is_request(recorded: RecordedMessage) -> bool:
    """Return whether a message requests a mode: a statement names the controller in force.

    Raises BagError if it can't be read.
    """
    return not getattr(_message(recorded), "controller_name", "")


def _message(recorded: RecordedMessage) -> Any:
    try:
        return deserialize_message(recorded.data, message_class(recorded.schema.name))
    except RuntimeError as error:  # root of what rclpy raises
        raise BagError(f"a message on {recorded.channel.topic} can't be read: {error}") from error
