"""Arrival times of polled messages, on a clock that may be set meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final

import pytest
import rclpy
from hypothesis import given
from hypothesis import strategies as st
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import QoSProfile
from std_msgs.msg import Int32
from test_support.machine import TestMachine

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.middleware.polled_topic import ArrivalTimes, PolledTopic

EPOCH: Final = 1_700_000_000 * 10**9  # [ns]
MS: Final = 10**6  # [ns]
TURNS: Final = 2000  # each waits up to 10 ms: far more than any test needs


class Clocks(TestMachine):
    """Both clocks of a machine, and a poll every now and then."""

    __test__ = False

    def __init__(self) -> None:
        self.now = 1000 * 10**9  # [ns], monotonic
        self.set_by = 0  # [ns]
        super().__init__(lambda: self.now * 1e-9, lambda: self.now + EPOCH + self.set_by)
        self.times = ArrivalTimes(self)

    def clock_ns(self) -> int:
        return self.now

    def pass_ms(self, milliseconds: float) -> Clocks:
        self.now += round(milliseconds * MS)
        return self

    def message(self) -> dict[str, int]:
        """Return what the middleware states of a message that arrives now."""
        return {"received_timestamp": self.system_time_ns(), "source_timestamp": 0}

    def ages(self, *messages: dict[str, int]) -> list[float]:
        """Poll; return the ages of the messages [ms]."""
        return [self.now / MS - arrival * 1e3 for arrival in self.times.of(list(messages))]


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


def about(*milliseconds: float) -> Any:
    return pytest.approx(list(milliseconds), abs=1e-3)


def test_messages_are_as_old_as_the_middleware_states(clocks: Clocks) -> None:
    first = clocks.pass_ms(30).message()
    second = clocks.pass_ms(20).message()
    assert clocks.pass_ms(50).ages(first, second) == about(70, 50)
    assert clocks.pass_ms(5).ages() == []
    assert clocks.pass_ms(10).ages(clocks.message()) == about(0)


@pytest.mark.parametrize("step", [-3600_000, -150, 150, 3600_000], ids=str)
def test_a_clock_that_is_set_makes_no_message_old_or_young(clocks: Clocks, step: int) -> None:
    before = clocks.pass_ms(30).message()
    clocks.pass_ms(1).set_by = step * MS
    after = clocks.pass_ms(20).message()
    assert clocks.pass_ms(49).ages(before, after) == about(70, 49)
    assert clocks.pass_ms(8).ages(clocks.message()) == about(0)


def test_of_two_possible_times_the_earlier_one_counts(clocks: Clocks) -> None:
    for step in (-15, 15):
        before = clocks.pass_ms(30).message()
        clocks.set_by += step * MS
        after = clocks.pass_ms(20).message()
        ages = clocks.pass_ms(50).ages(before, after)
        assert ages == (about(70, 65) if step < 0 else about(85, 50))


def test_a_message_without_a_possible_time_arrived_after_the_previous_poll(clocks: Clocks) -> None:
    unknown = {"received_timestamp": 0, "source_timestamp": 0}
    message = clocks.pass_ms(40).message()
    message["received_timestamp"] += 10**12
    assert clocks.pass_ms(60).ages(unknown, message) == about(100, 100)


def test_without_a_time_of_arrival_that_of_publishing_counts(clocks: Clocks) -> None:
    published = clocks.pass_ms(20).system_time_ns()
    message = {"received_timestamp": 0, "source_timestamp": published}
    assert clocks.pass_ms(30).ages(message) == about(30)
    old = {"received_timestamp": 0, "source_timestamp": published}
    assert clocks.pass_ms(30).ages(old) == about(30)


@given(
    arrivals=st.lists(st.integers(0, 100), min_size=1, max_size=10).map(sorted),
    moment=st.integers(0, 100),
    step=st.integers(-300, 300),
)
def test_no_message_looks_newer_than_it_is_whenever_the_clock_is_set(
    arrivals: list[int], moment: int, step: int
) -> None:
    clocks, messages, passed = Clocks(), [], 0
    for arrival in arrivals:
        clocks.pass_ms(arrival - passed)
        passed = arrival
        clocks.set_by = step * MS if moment < arrival else 0
        messages.append(clocks.message())
    clocks.set_by = step * MS
    ages = clocks.pass_ms(100 - passed).ages(*messages)
    assert ages == sorted(ages, reverse=True)
    for age, arrival in zip(ages, arrivals, strict=True):
        assert 100 - arrival - 1e-3 <= age <= 100 + 1e-3
        assert abs(step) <= 100 or age == pytest.approx(100 - arrival, abs=1e-3)


@pytest.fixture
def node() -> Iterator[Node]:
    context = Context()
    rclpy.init(context=context)
    with ExitStack() as opened:
        opened.callback(rclpy.try_shutdown, context=context)
        node = rclpy.create_node("polling", context=context, start_parameter_services=False)
        opened.callback(node.destroy_node)
        yield node


def test_messages_are_taken_when_polled_and_never_by_an_executor(node: Node) -> None:
    began = LINUX.clock()
    topic = PolledTopic(node, Int32, "numbers", QoSProfile(depth=3))
    heard: list[int] = []
    node.create_subscription(Int32, "numbers", lambda it: heard.append(it.data), 10)
    publisher = node.create_publisher(Int32, "numbers", 10)
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    for number in range(5):
        publisher.publish(Int32(data=number))
    for _ in range(TURNS):
        executor.spin_once(timeout_sec=0.01)
        if len(heard) == 5:
            break
    executor.shutdown()
    taken = list(topic.take_all())
    assert [message.data for message, _ in taken] == [2, 3, 4]
    assert began <= taken[0][1] <= taken[1][1] <= taken[2][1] <= LINUX.clock()
    assert topic.take() == (None, [])
