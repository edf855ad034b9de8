"""A ROS service that answers later, without blocking its executor or keeping it busy."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, Generic, TypeVar

from rclpy.executors import InvalidHandle
from rclpy.node import Node

Result = TypeVar("Result")


class DeferredService(Generic[Result]):
    """Begins work for each request; answers in the executor's thread once its future is done.

    A coroutine as callback would block its callback group, that is all callbacks of the node, and
    rclpy resumes it only when something else wakes the executor. So this class holds the response
    that rclpy is about to send, and a guard condition wakes the executor.
    """

    def __init__(
        self,
        node: Node,
        kind: Any,
        name: str,
        begin: Callable[[Any], Future[Result]],
        fill: Callable[[Result, Any], None],
    ) -> None:
        """`begin` takes a request and returns at once; `fill` writes a result into a response."""
        self._begin, self._fill = begin, fill
        self._begun: dict[int, Future[Result]] = {}  # by identity of the response object
        self._done: deque[tuple[Future[Result], Any, Any]] = deque()
        self._guard = node.create_guard_condition(self.answer)
        service = node.create_service(kind, name, self._called)
        self._send = service.send_response
        service.send_response = self._keep

    def _called(self, request: Any, response: Any) -> Any:
        self._begun[id(response)] = self._begin(request)
        return response

    def _keep(self, response: Any, header: Any) -> None:
        future = self._begun.pop(id(response))
        future.add_done_callback(lambda done: self._finished(done, response, header))

    def _finished(self, future: Future[Result], response: Any, header: Any) -> None:
        """Queue the answer; in the thread that finished the work."""
        self._done.append((future, response, header))
        with suppress(InvalidHandle):  # the node is destroyed, and with it the client's connection
            self._guard.trigger()

    def answer(self) -> None:
        """Send the answers that are ready. Called by the executor, or by its thread at the end."""
        while self._done:
            future, response, header = self._done.popleft()
            self._fill(future.result(), response)
            self._send(response, header)
