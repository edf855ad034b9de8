"""The messages of a bag that are replayed, and those that are never replayed."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from humanoid_control_msgs.msg import ControlMode, MITCommand
from mcap.records import Channel, Schema
from rcl_interfaces.msg import Log
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.node_player import NodePlayer
from humanoid_recording.reader import RecordedMessage


class Node:
    """Records the published messages by topic."""

    def __init__(self, namespace: str = "/") -> None:
        self.published: dict[str, list[bytes]] = {}
        self.namespace = namespace

    def get_namespace(self) -> str:
        return self.namespace

    def create_publisher(self, _: type, topic: str, __: object) -> SimpleNamespace:
        return SimpleNamespace(publish=self.published.setdefault(topic, []).append)


@pytest.fixture
def node() -> Node:
    return Node()


@pytest.fixture
def logged() -> list[str]:
    return []


@pytest.fixture
def play(node: Node, logged: list[str], bags: SimpleNamespace) -> Callable[..., NodePlayer]:
    """Play one message on a topic; return the player. `change` changes its definition."""
    player = NodePlayer(node, logged.append)

    def play(
        topic: str,
        message: object,
        change: Callable[[str], str] = lambda text: text,
        kind: str = "",
    ) -> NodePlayer:
        source = bags.topic(topic, message)
        schema = Schema(1, change(source.definition).encode(), "ros2msg", kind or source.type_name)
        channel = Channel(1, topic, "cdr", {}, 1)
        player.publish(RecordedMessage(channel, schema, bags.start, serialize_message(message)))
        return player

    return play


def test_observations_are_published_as_they_were_recorded(play, node: Node, bags) -> None:
    for topic, message in bags.messages.items():
        play(topic, message)
    for topic, message in bags.messages.items():
        (data,) = node.published.pop(topic)
        assert deserialize_message(data, type(message)) == message
    assert not node.published


def test_only_the_robot_in_the_namespace_of_the_node_is_replayed(
    play, node: Node, logged: list[str]
) -> None:
    node.namespace = "/left"
    for topic in ("/control_mode", "/left/control_mode", "/right/control_mode"):
        play(topic, ControlMode(controller_name="damping_controller"))
    play("/left/control_mode", ControlMode(mode=1))  # a request
    assert {topic: len(sent) for topic, sent in node.published.items()} == {"/left/control_mode": 1}
    assert [text.partition(": it is of the robot in ")[2] for text in logged] == [
        "/: `hc --namespace / replay …`",
        "/right: `hc --namespace /right replay …`",
    ]


@pytest.mark.parametrize(
    "topic",
    ["/remote_policy_controller/command", "/joy", "/humanoid_control/anything"],
)
def test_topic_that_is_no_observation_is_not_replayed_and_named_once(
    play, node: Node, logged: list[str], topic: str
) -> None:
    for _ in range(2):
        player = play(topic, MITCommand())
    assert not node.published
    assert player.count == 0
    assert logged == [f"not replayed: {topic}: it is no observation"]


def test_lines_of_the_log_are_logged_and_not_published(play, node: Node, logged: list[str]) -> None:
    for text in ("one", "two"):
        player = play("/rosout", Log(name="control", msg=text))
    assert logged == ["control: one", "control: two"]
    assert not node.published
    assert player.count == 0


def test_player_repeats_the_last_message_of_each_topic(play, node: Node, bags) -> None:
    states, modes = "/prime/joint_states", "/control_mode"
    player = play(states, JointState(name=["first"]))
    play(states, JointState(name=["last"]))
    play(modes, ControlMode(mode=1, controller_name="damping_controller"))
    play(modes, ControlMode(mode=2))  # a request
    player.repeat()
    names = [deserialize_message(data, JointState).name for data in node.published[states]]
    assert names == [["first"], ["last"], ["last"]]
    found = [deserialize_message(data, ControlMode).mode for data in node.published[modes]]
    assert found == [1, 1]
    assert player.count == 3


def test_a_request_for_a_mode_is_never_published(play, node: Node) -> None:
    player = play("/control_mode", ControlMode(mode=2))
    assert node.published == {"/control_mode": []}
    assert (player.count, player.requests) == (0, 1)


def test_a_broken_message_on_the_topic_of_the_modes_is_reported(node: Node, bags) -> None:
    recorded = bags.topic("/control_mode", ControlMode())
    schema = Schema(1, recorded.definition.encode(), "ros2msg", recorded.type_name)
    data = serialize_message(ControlMode(controller_name="a"))[:8]
    with pytest.raises(BagError, match="a message on /control_mode can't be read"):
        NodePlayer(node, print).publish(
            RecordedMessage(Channel(1, "/control_mode", "cdr", {}, 1), schema, bags.start, data)
        )
    assert node.published == {"/control_mode": []}


def test_message_of_another_type_on_control_mode_is_not_replayed(play, node: Node) -> None:
    play("/control_mode", MITCommand())
    assert node.published == {"/control_mode": []}


def test_a_definition_that_has_changed_is_not_misread(play, node: Node, logged: list[str]) -> None:
    play("/control_mode", ControlMode(), lambda text: text.replace("uint8 mode", "uint16 mode"))
    assert not node.published
    assert logged == [
        "not replayed: /control_mode: humanoid_control_msgs/msg/ControlMode has changed since"
    ]


def test_comments_of_a_definition_may_have_changed(play, node: Node, bags) -> None:
    topic = "/prime/joint_states"
    play(topic, bags.messages[topic], lambda text: f"# news\n\n{text}")
    assert len(node.published[topic]) == 1


def test_a_type_that_is_not_installed_is_named(play, node: Node, logged: list[str], bags) -> None:
    play("/clock", bags.messages["/clock"], kind="nowhere_msgs/msg/Clock")
    assert not node.published
    assert logged == [
        "not replayed: /clock: message type nowhere_msgs/msg/Clock is not installed here"
    ]
