"""The thread that executes the viewer's callbacks."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.guard_condition import GuardCondition
from std_msgs.msg import Bool

from humanoid_viz.nodes.interruptible_sleep import InterruptibleSleep
from humanoid_viz.nodes.run_node import spinning
from humanoid_viz.nodes.viewer_node import STOP_TOPIC, ViewerNode
from humanoid_viz.state.latest_messages import LatestMessages


@pytest.fixture
def node() -> Iterator[ViewerNode]:
    rclpy.init()
    node = ViewerNode(LatestMessages())
    yield node
    node.destroy_node()
    rclpy.try_shutdown()


def test_executor_is_shut_down_after_its_thread_has_ended(node, monkeypatch) -> None:
    # Before, the thread would wait for destroyed entities: AttributeError in the wait.
    shutdown = SingleThreadedExecutor.shutdown
    alive: list[str] = []

    def noted(executor: SingleThreadedExecutor, *arguments: float) -> bool:
        alive.extend(thread.name for thread in threading.enumerate())
        return shutdown(executor, *arguments)

    monkeypatch.setattr(SingleThreadedExecutor, "shutdown", noted)
    with spinning(node, InterruptibleSleep()):
        pass
    assert "MainThread" in alive
    assert "ros" not in alive


def test_a_stop_is_sent_although_the_middleware_loses_the_trigger_of_the_click(
    node, monkeypatch
) -> None:
    stopped = threading.Event()
    node.create_subscription(Bool, STOP_TOPIC, lambda _: stopped.set(), 10)
    monkeypatch.setattr(GuardCondition, "trigger", lambda _: None)
    with spinning(node, InterruptibleSleep()):
        while not node.count_subscribers(STOP_TOPIC):
            time.sleep(0.01)
        node.emergency_stop()
        assert stopped.wait(30.0)  # a dead-man's switch
