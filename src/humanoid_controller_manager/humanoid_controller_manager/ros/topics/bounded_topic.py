"""Topics with a largest message: a larger one is refused before it is decoded.

ROS makes a Python object of every element of a message. For 100 000 points of a trajectory that
takes seconds, in which the ROS side of the control process is silent, and the robot falls. Services
and actions have no such bound: rclpy decodes a request before its size can be checked.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message

from humanoid_control_common.errors import RobotError
from humanoid_control_common.middleware.polled_topic import taken_now

LONGEST_NAME: Final = 256  # bytes of a joint's name in a message
_REST: Final = 4096  # bytes for header, layout, sizes of arrays
_NUMBER: Final = 8  # bytes
MOST_AT_ONCE: Final = 10  # messages
LOG_PERIOD: Final = 1.0  # [s]


class MessageRefusedError(RobotError):
    """A message cannot be decoded, or may not be: it is too large."""


def message_size(*, names: int, numbers: int) -> int:
    """Return the bytes that a message with so many names of joints and numbers takes at most."""
    return _REST + names * LONGEST_NAME + numbers * _NUMBER


def refusal_log(node: Node, what: str) -> Callable[[MessageRefusedError], None]:
    """Return a function that logs refusals of `what`, LOG_PERIOD apart at least.

    Each text has another count, so a log without repetitions would have every one.
    """
    warning = node.get_logger().warning

    def log(error: MessageRefusedError) -> None:
        warning(f"{what}: {error}", throttle_duration_sec=LOG_PERIOD)

    return log


@dataclass(slots=True)
class BoundedTopic:
    """Decodes the messages of one topic, unless they are too large."""

    kind: Any  # of the messages
    largest: int  # [bytes] of a message as it is sent
    accept: Callable[[Any, Any], None]  # called with a message and rclpy's information about it
    refuse: Callable[[MessageRefusedError], None]  # called with the reason: size, and count
    refused: int = 0  # messages so far
    # Called first, with the message as it was sent. Returns True if it need not be decoded.
    take_undecoded: Callable[[bytes, Any], bool] = lambda _data, _info: False
    _subscription: Any = None  # of rclpy

    def subscribe(self, node: Node, topic: str, qos: QoSProfile | int) -> None:
        """Receive the messages of `topic`."""
        self._subscription = node.create_subscription(self.kind, topic, self.receive, qos, raw=True)

    def receive_waiting(self) -> None:
        """Take what has arrived, MOST_AT_ONCE messages at most; the executor takes the rest.

        For the executor's thread: it saves a wake-up for a message that is known to be there.
        """
        for data, info in islice(taken_now(self._subscription, self.kind), MOST_AT_ONCE):
            self.receive(data, info)

    def receive(self, data: bytes, info: Any) -> None:
        """Take a message as it was sent."""
        if self.take_undecoded(data, info):
            return
        if len(data) > self.largest:
            self._note(f"of {len(data)} bytes, expected {self.largest} at most")
            return
        try:
            message = deserialize_message(data, self.kind)
        except rclpy_implementation.RMWError as error:
            self._note(f"that cannot be decoded: {error}")
            return
        self.accept(message, info)

    def _note(self, what: str) -> None:
        self.refused += 1
        text = f"a {self.kind.__name__} {what}; {self.refused} refused"
        self.refuse(MessageRefusedError(text))
