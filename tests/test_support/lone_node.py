"""Fixtures of ROS tests of several packages."""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, Final

import rclpy
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node

from test_support.ros.ros_domains import reserved_domain

TIMEOUT: Final = 20.0  # [s] timeout of an answer, long enough for a busy machine
_LOOK: Final = 0.005  # [s]


class LoneNode:
    """A node and an executor in a context of their own, on a ROS domain of their own."""

    def __init__(self, name: str) -> None:
        self.context = rclpy.Context()
        self._reservation = ExitStack()
        domain = self._reservation.enter_context(reserved_domain())
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node(name, context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)

    def spin_until(self, condition: Callable[[], bool]) -> None:
        """Execute callbacks until `condition` holds. Raises AssertionError after TIMEOUT."""
        future = rclpy.task.Future(executor=self.executor)
        timer = self.node.create_timer(_LOOK, lambda: condition() and future.set_result(True))
        self.executor.spin_until_future_complete(future, timeout_sec=TIMEOUT)
        self.node.destroy_timer(timer)
        assert future.done(), f"not within {TIMEOUT} s"

    def call(self, kind: Any, name: str, request: Any) -> Any:
        """Call the service `name` of the node. Return its response."""
        client = self.node.create_client(kind, f"~/{name}")
        self.spin_until(client.service_is_ready)
        call = client.call_async(request)
        self.spin_until(call.done)
        return call.result()

    def close(self) -> None:
        """Destroy executor, node and context; leave the domain."""
        self.executor.shutdown()
        self.node.destroy_node()
        self.context.shutdown()
        self._reservation.close()
