"""Messages that are too large are refused before they are decoded."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest
import rclpy
from humanoid_control_msgs.msg import JointJog
from rclpy.context import Context
from rclpy.serialization import serialize_message

from humanoid_controller_manager.ros.topics import bounded_topic
from humanoid_controller_manager.ros.topics.bounded_topic import (
    LONGEST_NAME,
    MOST_AT_ONCE,
    BoundedTopic,
    message_size,
)

LARGEST = message_size(names=14, numbers=14)


class Listener:
    """A bounded topic, and the messages and refusals that it delivers."""

    def __init__(self) -> None:
        self.accepted: list[JointJog] = []
        self.reasons: list[str] = []
        self.topic = BoundedTopic(
            JointJog,
            LARGEST,
            lambda message, _: self.accepted.append(message),
            lambda error: self.reasons.append(str(error)),
        )


@pytest.fixture
def listener() -> Listener:
    return Listener()


def _jog(joints: int, name: str = "left_elbow_pitch") -> bytes:
    message = JointJog(joint_names=[name] * joints, velocities=[0.5] * joints)
    data: bytes = serialize_message(message)
    return data


def test_a_message_of_all_joints_is_decoded(listener: Listener) -> None:
    listener.topic.receive(_jog(14, "x" * (LONGEST_NAME - 16)), {})
    assert len(listener.accepted[0].joint_names) == 14
    assert listener.reasons == []


def test_a_larger_message_is_refused_undecoded_with_size_and_count(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decode(*_: Any) -> None:
        raise AssertionError("it was decoded")

    monkeypatch.setattr(bounded_topic, "deserialize_message", decode)
    data = _jog(100_000)
    listener.topic.receive(data, {})
    listener.topic.receive(data, {})
    assert listener.accepted == []
    assert listener.reasons == [
        f"a JointJog of {len(data)} bytes, expected {LARGEST} at most; {count} refused"
        for count in (1, 2)
    ]


def test_the_bound_itself_is_accepted(listener: Listener) -> None:
    data = _jog(1)
    listener.topic = BoundedTopic(
        JointJog, len(data), lambda message, _: listener.accepted.append(message), pytest.fail
    )
    listener.topic.receive(data, {})
    assert len(listener.accepted) == 1


@pytest.mark.parametrize("cut", [4, 30, 60])
def test_a_message_that_cannot_be_decoded_is_refused(listener: Listener, cut: int) -> None:
    listener.topic.receive(_jog(3)[:cut], {})
    assert listener.accepted == []
    assert "a JointJog that cannot be decoded" in listener.reasons[0]


def test_size_and_information_of_a_message_reach_the_listener() -> None:
    found: list[Any] = []
    topic = BoundedTopic(JointJog, LARGEST, lambda *it: found.append(it[1]), pytest.fail)
    topic.receive(_jog(1), {"received_timestamp": 7})
    assert found == [{"received_timestamp": 7}]


def test_waiting_messages_are_taken_without_the_executor_a_few_at_once(
    listener: Listener,
) -> None:
    with ExitStack() as opened:
        context = Context()
        rclpy.init(context=context)
        opened.callback(rclpy.try_shutdown, context=context)
        node = rclpy.create_node("alone", context=context, start_parameter_services=False)
        opened.callback(node.destroy_node)
        publisher = node.create_publisher(JointJog, "jogs", 100)
        listener.topic.subscribe(node, "jogs", 100)
        for i in range(MOST_AT_ONCE + 1):
            publisher.publish(JointJog(joint_names=[f"joint_{i}"], velocities=[0.0]))
        listener.topic.receive_waiting()
        assert len(listener.accepted) == MOST_AT_ONCE
        listener.topic.receive_waiting()
        listener.topic.receive_waiting()
    names = [message.joint_names[0] for message in listener.accepted]
    assert names == [f"joint_{i}" for i in range(MOST_AT_ONCE + 1)]


def test_a_message_that_is_taken_undecoded_goes_no_further(listener: Listener) -> None:
    found: list[Any] = []

    def take(data: bytes, info: Any) -> bool:
        found.append(info)
        return data == _jog(3)

    listener.topic.take_undecoded = take
    listener.topic.receive(_jog(3), {"received_timestamp": 7})
    assert listener.accepted == []
    listener.topic.receive(_jog(2), {"received_timestamp": 8})
    assert len(listener.accepted) == 1
    assert found == [{"received_timestamp": 7}, {"received_timestamp": 8}]
