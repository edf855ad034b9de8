"""The thread that executes the viewer's callbacks."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from humanoid_viz.nodes.interruptible_sleep import InterruptibleSleep
from humanoid_viz.nodes.run_node import spinning


@pytest.fixture
def node() -> Iterator[Node]:
    rclpy.init()
    node = rclpy.create_node("any")
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
