"""Topics and services in memory."""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Int32
from std_srvs.srv import Trigger

from humanoid_control_common.middleware.polled_topic import PolledTopic
from humanoid_stepped.ros.bus import Bus
from humanoid_stepped.ros.session import SteppedSession
from humanoid_stepped.scheduler import NEVER, Process, Scheduler
from humanoid_stepped.stepped_machine import SteppedMachine

LATCHED: Final = QoSProfile(depth=2, durability=DurabilityPolicy.TRANSIENT_LOCAL)
BEST_EFFORT: Final = QoSProfile(depth=1000, reliability=ReliabilityPolicy.BEST_EFFORT)


class Still:
    next_event = NEVER

    def advance(self, end: int) -> int:
        """Do nothing: this world has no motion."""
        return end


class Domain:
    """Processes with one node each."""

    def __init__(self, seed: int = 1) -> None:
        self.scheduler = Scheduler(Random(seed), Still())
        self.bus = Bus(self.scheduler)

    def node(self, name: str) -> Any:
        machine = SteppedMachine(self.scheduler, Process(name))
        session = SteppedSession(machine, self.bus, [], lambda *_: None)
        node, executor = session.node(name, services=False), session.executor()
        executor.add_node(node)

        def spin() -> None:
            while True:
                executor.execute_next(None)

        machine.start("main", spin)
        return node


@given(seed=st.integers(0, 500), count=st.integers(1, 60))
def test_messages_of_one_publisher_arrive_whole_and_in_order(seed: int, count: int) -> None:
    domain, found = Domain(seed), list[int]()
    domain.node("b").create_subscription(Int32, "numbers", lambda it: found.append(it.data), 100)
    publisher = domain.node("a").create_publisher(Int32, "numbers", 100)
    for number in range(count):
        publisher.publish(Int32(data=number))
    domain.scheduler.run_for(1.0)
    assert found == list(range(count))


def test_a_message_is_what_it_was_when_it_was_published() -> None:
    domain, found = Domain(), list[str]()
    publisher = domain.node("a").create_publisher(JointState, "states", 10)
    domain.node("b").create_subscription(JointState, "states", lambda it: it.name.append("b"), 10)
    domain.node("c").create_subscription(JointState, "states", lambda it: found.extend(it.name), 10)
    message = JointState(name=["a"])
    publisher.publish(message)
    message.name.append("later")
    domain.scheduler.run_for(1.0)
    assert found == ["a"]


def test_a_message_with_content_of_a_wrong_type_cannot_be_published() -> None:
    publisher = Domain().node("a").create_publisher(JointState, "states", 10)
    message = JointState(name=["a"])
    message.name.append(5)
    with pytest.raises(TypeError):
        publisher.publish(message)


def test_a_response_is_what_it_was_when_it_was_sent() -> None:
    domain, responses = Domain(), list[Any]()
    node = domain.node("a")

    def serve(_request: Any, response: Any) -> Any:
        response.message = "served"
        responses.append(response)
        return response

    node.create_service(Trigger, "serve", serve)
    future = domain.node("b").create_client(Trigger, "serve").call_async(Trigger.Request())
    domain.scheduler.run_for(1.0)
    responses[0].message = "later"
    assert future.result().message == "served"


def test_messages_of_two_publishers_may_overtake_each_other() -> None:
    def order(seed: int) -> list[int]:
        domain, found = Domain(seed), list[int]()
        node = domain.node("c")
        node.create_subscription(Int32, "numbers", lambda it: found.append(it.data), 10)
        for number, name in enumerate("ab"):
            domain.node(name).create_publisher(Int32, "numbers", 10).publish(Int32(data=number))
        domain.scheduler.run_for(1.0)
        return found

    assert {tuple(order(seed)) for seed in range(20)} == {(0, 1), (1, 0)}


def test_a_full_queue_drops_its_oldest_messages() -> None:
    domain, found = Domain(), list[int]()
    slow = domain.node("slow")

    def take(message: Int32) -> None:
        found.append(message.data)
        slow.machine.sleep(0.1)

    slow.create_subscription(Int32, "numbers", take, 1)
    publisher = domain.node("a").create_publisher(Int32, "numbers", 10)
    for number in range(5):
        publisher.publish(Int32(data=number))
        domain.scheduler.run_for(0.01)
    domain.scheduler.run_for(1.0)
    assert found == [0, 4]


def test_a_late_subscriber_gets_what_a_publisher_keeps_if_it_requests_it() -> None:
    domain, kept, missed = Domain(), list[int](), list[int]()
    publisher = domain.node("a").create_publisher(Int32, "numbers", LATCHED)
    for number in range(5):
        publisher.publish(Int32(data=number))
    late = domain.node("late")
    late.create_subscription(Int32, "numbers", lambda it: kept.append(it.data), LATCHED)
    late.create_subscription(Int32, "numbers", lambda it: missed.append(it.data), 10)
    domain.scheduler.run_for(1.0)
    assert (kept, missed) == ([3, 4], [])


def test_only_best_effort_messages_are_lost() -> None:
    domain, reliable, other = Domain(), list[int](), list[int]()
    domain.bus.disturbance.lost = 0.5
    node = domain.node("b")
    node.create_subscription(Int32, "numbers", lambda it: reliable.append(it.data), 1000)
    node.create_subscription(Int32, "numbers", lambda it: other.append(it.data), BEST_EFFORT)
    publisher = domain.node("a").create_publisher(Int32, "numbers", 1000)
    for number in range(200):
        publisher.publish(Int32(data=number))
    domain.scheduler.run_for(1.0)
    assert reliable == list(range(200))
    assert 60 < len(other) < 140


def test_a_reliable_subscription_gets_nothing_of_a_best_effort_publisher() -> None:
    domain, found = Domain(), list[int]()
    domain.node("b").create_subscription(Int32, "numbers", lambda it: found.append(it.data), 10)
    publisher = domain.node("a").create_publisher(Int32, "numbers", BEST_EFFORT)
    publisher.publish(Int32(data=1))
    domain.scheduler.run_for(1.0)
    assert found == []
    assert publisher.get_subscription_count() == 0


def test_a_raw_subscription_gets_bytes_that_rclpy_reads() -> None:
    domain, found = Domain(), list[bytes]()
    domain.node("b").create_subscription(Int32, "numbers", found.append, 10, raw=True)
    domain.node("a").create_publisher(Int32, "numbers", 10).publish(Int32(data=7))
    domain.scheduler.run_for(1.0)
    assert [deserialize_message(data, Int32).data for data in found] == [7]


def test_polled_topic_wakes_no_task_and_has_arrival_times_of_the_simulated_clock() -> None:
    domain, waits = Domain(), list[float]()
    node = domain.node("b")
    wait = node.machine.wait
    node.machine.wait = lambda *args: waits.append(node.machine.clock()) or wait(*args)
    topic = PolledTopic(node, Int32, "numbers", QoSProfile(depth=2), node.machine)
    publisher = domain.node("a").create_publisher(Int32, "numbers", 10)
    domain.scheduler.run_for(1.0)
    waits.clear()
    sent = []
    for number in range(3):
        sent.append(node.machine.clock())
        publisher.publish(Int32(data=number))
        domain.scheduler.run_for(1.0)
    assert waits == []
    executor = node.executor
    executor.remove_node(node)
    executor.add_node(node)  # looks which entities of the node are ready
    domain.scheduler.run_for(1.0)
    taken = list(topic.take_all())
    assert [message.data for message, _ in taken] == [1, 2]
    for moment, (_, arrival) in zip(sent[1:], taken, strict=True):
        assert moment < arrival < moment + 0.01
    assert list(topic.take_all()) == []


def test_a_service_answers_its_client_and_sends_no_answer_after_its_end() -> None:
    domain = Domain()

    def answer(_request: Any, response: Any) -> Any:
        response.success, response.message = True, "well"
        return response

    server = domain.node("server")
    server.create_service(Trigger, "~/ask", answer)
    client = domain.node("client").create_client(Trigger, "/server/ask")
    assert client.service_is_ready()
    first = client.call_async(Trigger.Request())
    domain.scheduler.run_for(0.1)
    assert (first.done(), first.result().message) == (True, "well")
    server.destroy_node()
    assert not client.service_is_ready()
    second = client.call_async(Trigger.Request())
    domain.scheduler.run_for(1.0)
    assert not second.done()


@pytest.mark.parametrize(("name", "resolved"), [
    ("mode", "/mode"), ("~/state", "/arm/state"), ("/left/mode", "/left/mode"),
])  # fmt: skip
def test_names_are_resolved_as_ros_does(name: str, resolved: str) -> None:
    assert Domain().node("arm").resolve_topic_name(name) == resolved


def test_a_timer_keeps_its_phase_and_skips_the_calls_it_missed() -> None:
    domain, found = Domain(), list[float]()
    node = domain.node("a")

    def ring() -> None:
        found.append(domain.scheduler.now / 1e9)
        if len(found) == 3:
            node.machine.sleep(0.35)

    node.create_timer(0.1, ring)
    domain.scheduler.run_for(1.0)
    assert [round(time, 2) for time in found] == [0.1, 0.2, 0.3, 0.65, 0.7, 0.8, 0.9, 1.0][
        : len(found)
    ]
    assert len(found) >= 7
