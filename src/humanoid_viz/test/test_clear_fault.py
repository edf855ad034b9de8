"""CLEAR FAULT of the viewer: a call given up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest
import rclpy
from humanoid_control_msgs.srv import ClearFault
from rclpy.client import Client
from rclpy.executors import SingleThreadedExecutor

from humanoid_viz.nodes.viewer_node import CLEAR_FAULT, ViewerNode
from humanoid_viz.state.latest_messages import LatestMessages
from humanoid_viz.state.state import Statement


class Operator:
    """A viewer without a page."""

    def __init__(self) -> None:
        self._messages = LatestMessages()
        rclpy.init()
        self.node = ViewerNode(self._messages)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)

    def spin_until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 30.0
        while not condition():
            assert time.monotonic() < deadline, self.answer
            self._executor.spin_once(timeout_sec=0.02)
            self.node.run_actions()

    def clear_fault(self) -> str:
        """Click CLEAR FAULT while DAMPING is stated; return what the page shows at last."""
        self._messages.put_statement(Statement(1, "damping_controller", ""), time.monotonic())
        self.node.clear_fault()
        self.spin_until(lambda: self.answer not in ("", "clear fault: requested"))
        return self.answer

    @property
    def client(self) -> Client:
        return next(it for it in self.node.clients if it.srv_type is ClearFault)

    @property
    def answer(self) -> str:
        answer = self._messages.snapshot(time.monotonic()).answer
        return "" if answer is None else answer.text

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown()


@pytest.fixture
def operator(domain: int) -> Iterator[Operator]:
    operator = Operator()
    yield operator
    operator.close()


def test_a_call_that_was_given_up_is_withdrawn(operator: Operator) -> None:
    """A broken link would deliver it later, and release a stop."""
    silent = rclpy.create_node("mode_manager")
    silent.create_service(ClearFault, f"/{CLEAR_FAULT}", lambda _, response: response)
    first = operator.client
    operator.spin_until(first.service_is_ready)
    assert operator.clear_fault() == "clear fault: no answer within 3 s"
    assert first not in operator.node.clients
    silent.destroy_node()
