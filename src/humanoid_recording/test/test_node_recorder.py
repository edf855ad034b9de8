"""The publishers whose messages are recorded, without the graph of ROS."""

import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

from humanoid_recording.definitions import type_hash
from humanoid_recording.node_recorder import NodeRecorder
from humanoid_recording.qos_profiles import plain_offers, replay_qos
from humanoid_recording.recording import ReceivedMessage
from humanoid_recording.summary import to_yaml

TOPIC = "/prime/joint_states"
JOINT_STATE = "sensor_msgs/msg/JointState"
RELIABLE = QoSProfile(depth=10)
UNRELIABLE = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


def publisher(
    kind: str = JOINT_STATE, type_hash: str = "", qos: QoSProfile = RELIABLE, number: int = 1
):
    return SimpleNamespace(
        node_name="robot",
        topic_type=kind,
        topic_type_hash=type_hash,
        qos_profile=qos,
        endpoint_gid=[number],
    )


class Graph:
    """A node with `publishers` in its graph; records subscriptions and notices."""

    def __init__(self, publishers: Sequence[SimpleNamespace] = ()) -> None:
        self.publishers = list(publishers)
        self.listening: list[tuple[type, str, QoSProfile]] = []
        self.topics: list[object] = []
        self.messages: list[str] = []
        self.receive: Callable = lambda data, info: None
        self.arrivals: list[int] = []  # [ns] in the recording
        self.publications: list[int] = []  # the same

    def get_publishers_info_by_topic(self, _: str) -> list[SimpleNamespace]:
        return self.publishers

    def create_subscription(
        self, kind: type, topic: str, receive: Callable, qos: QoSProfile, *, raw: bool
    ) -> None:
        assert raw
        self.receive = receive
        self.listening.append((kind, topic, qos))

    def add_topic(self, topic: object) -> None:
        self.topics.append(topic)

    def add(self, message: ReceivedMessage) -> None:
        self.arrivals.append(message.arrival)
        self.publications.append(message.publication)

    def look(self) -> None:
        NodeRecorder(self, [TOPIC], self, self.messages.append).subscribe_new()


def test_a_topic_is_recorded_once_it_has_a_publisher() -> None:
    graph = Graph()
    recorder = NodeRecorder(graph, [TOPIC], graph, graph.messages.append)
    recorder.subscribe_new()
    assert not graph.messages
    graph.publishers = [publisher(type_hash=type_hash(JOINT_STATE))]
    for _ in range(2):
        recorder.subscribe_new()
    assert graph.messages == [f"recording {TOPIC}"]
    assert [(kind, topic) for kind, topic, _ in graph.listening] == [(JointState, TOPIC)]


@pytest.mark.parametrize(
    "publishers",
    [
        [publisher(type_hash="RIHS01_00")],
        [publisher(type_hash="INVALID"), publisher("std_msgs/msg/String", "INVALID")],
        [publisher("nowhere_msgs/msg/Thing", "INVALID")],
        [publisher("no type", "INVALID")],
    ],
    ids=["another version", "two types", "not installed", "no name of a type"],
)
def test_topic_with_an_unreadable_type_is_not_recorded_and_reported_once(publishers) -> None:
    graph = Graph(publishers)
    graph.look()
    assert not graph.listening
    assert not graph.topics
    (messages,) = graph.messages
    assert messages.startswith(f"not recorded: {TOPIC}: ")


@pytest.mark.parametrize(
    ("offers", "reliable", "latched"),
    [
        ([RELIABLE], True, False),
        ([RELIABLE, UNRELIABLE], False, False),
        ([LATCHED, LATCHED], True, True),
        ([LATCHED, RELIABLE], True, False),
    ],
)
def test_every_publisher_is_recorded_with_the_best_common_qos_and_replayed_so(
    offers: list[QoSProfile], reliable: bool, latched: bool
) -> None:
    graph = Graph([publisher(type_hash="INVALID", qos=qos) for qos in offers])
    graph.look()
    ((_, _, asked),) = graph.listening
    for qos in (asked, replay_qos(to_yaml(plain_offers(offers)))):
        assert (qos.reliability is ReliabilityPolicy.RELIABLE) == reliable
        assert (qos.durability is DurabilityPolicy.TRANSIENT_LOCAL) == latched


@pytest.mark.parametrize("step", [-(10**17), -(10**9), 10**9, 10**18])
def test_a_clock_that_is_set_makes_no_gap_in_a_recording(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replay would wait for as long as the gap is: 30 years for a computer without a battery."""
    begin, second = 10**18, 10**9  # [ns]
    monkeypatch.setattr(time, "monotonic_ns", lambda: 5 * second)
    monkeypatch.setattr(time, "time_ns", lambda: begin)
    graph = Graph([publisher(type_hash="INVALID")])
    graph.look()
    graph.receive(b"", {"received_timestamp": begin, "source_timestamp": 0})
    monkeypatch.setattr(time, "monotonic_ns", lambda: 5 * second + 200)
    monkeypatch.setattr(time, "time_ns", lambda: begin + 200 + step)
    for arrival in (begin + 100, begin + 200 + step):  # the first one has waited
        graph.receive(b"", {"received_timestamp": arrival, "source_timestamp": 0})
    assert [it - begin for it in graph.arrivals] == [0, 100, 200]


def test_a_message_that_waited_while_the_clock_was_set_back_makes_no_gap(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begin, wrong = 10**18, 10**17  # [ns]
    now = SimpleNamespace(monotonic=0, wrong=0)
    monkeypatch.setattr(time, "monotonic_ns", lambda: now.monotonic)
    monkeypatch.setattr(time, "time_ns", lambda: begin + now.monotonic + now.wrong)
    graph = Graph([publisher(type_hash="INVALID")])
    graph.look()
    for now.monotonic, now.wrong, stamped in (100, wrong, wrong), (200, 0, wrong), (300, 0, 0):
        arrival = begin + now.monotonic + stamped
        graph.receive(b"", {"received_timestamp": arrival, "source_timestamp": 0})
    assert [it - begin for it in graph.arrivals] == [100, 200, 300]


class Sender:
    """Messages with the numbers that a publisher's middleware counts."""

    def __init__(self, *publishers: SimpleNamespace) -> None:
        self.graph = Graph(publishers)
        self.recorder = NodeRecorder(self.graph, [TOPIC], self.graph, lambda _: None)
        self.recorder.subscribe_new()

    def lost_after(self, *numbers: int | None) -> int:
        for number in numbers:
            info = {
                "received_timestamp": 1,
                "source_timestamp": 1,
                "publication_sequence_number": number,
            }
            self.graph.receive(b"", info)
        return self.recorder.lost


def test_messages_that_did_not_arrive_are_counted() -> None:
    """A recorder that is stopped for a while misses what the middleware cannot keep."""
    sender = Sender(publisher(type_hash="INVALID"))
    assert sender.lost_after(7, 8, 9) == 0
    assert sender.lost_after(12, 13, 20) == 8


def test_another_publisher_begins_with_its_own_number() -> None:
    sender = Sender(publisher(type_hash="INVALID"))
    assert sender.lost_after(7, 8) == 0
    sender.graph.publishers = [publisher(type_hash="INVALID", number=2)]
    assert sender.lost_after(40, 41) == 0
    assert sender.lost_after(3, 4) == 0
    assert sender.lost_after(6) == 1


def test_messages_of_several_publishers_or_without_numbers_are_not_counted() -> None:
    both = [publisher(type_hash="INVALID", number=number) for number in (1, 2)]
    assert Sender(*both).lost_after(3, 90, 4, 93) == 0
    assert Sender(both[0]).lost_after(None, None) == 0


@pytest.mark.parametrize("stamp", [0, -1])
def test_a_message_without_a_valid_time_stamp_is_published_when_it_arrives(stamp: int) -> None:
    graph = Graph([publisher(type_hash="INVALID")])
    graph.look()
    now = time.time_ns()
    graph.receive(b"", {"received_timestamp": now, "source_timestamp": stamp})
    assert graph.publications == [now]


def test_qos_profiles_of_older_bags_are_parsed() -> None:
    offers = replay_qos("- {history: 1, depth: 1, reliability: 1, durability: 1}")
    assert offers.durability is DurabilityPolicy.TRANSIENT_LOCAL
    assert replay_qos("").durability is DurabilityPolicy.VOLATILE
