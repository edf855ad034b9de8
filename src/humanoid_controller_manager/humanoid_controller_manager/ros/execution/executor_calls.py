"""Run calls of other threads in the executor's thread."""

from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from threading import Event, Lock
from typing import Any, TypeVar

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.machine.machine import Machine

T = TypeVar("T")


class ExecutorCalls:
    """Runs functions in the executor's thread, in order, and returns their results.

    Args:
        wake: makes the executor's thread call `do_all` soon.
        machine: the calling threads wait on it.
    """

    def __init__(self, wake: Callable[[], object], machine: Machine) -> None:
        self._wake, self._machine = wake, machine
        self._queue: SimpleQueue[tuple[Callable[[], Any], Future[Any]]] = SimpleQueue()
        self._lock = Lock()
        self._closed = False

    def run(self, function: Callable[[], T]) -> T:
        """Run `function` in the executor's thread and return its result; raise its error.

        Raises ControllerError if the process ends before its turn comes.
        """
        answer: Future[T] = Future()
        answered = Event()
        answer.add_done_callback(lambda _: answered.set())
        with self._lock:
            if self._closed:
                raise ControllerError("the control process is shutting down")
            self._queue.put((function, answer))
        self._wake()
        self._machine.wait(answered)
        return answer.result()

    def do_all(self) -> None:
        """Run the waiting calls. Called in the executor's thread."""
        for function, answer in self._waiting():
            try:
                answer.set_result(function())
            except BaseException as error:
                answer.set_exception(error)  # `run` raises it in the calling thread

    def close(self) -> None:
        """Refuse waiting and later calls."""
        with self._lock:
            self._closed = True
        for _, answer in self._waiting():
            answer.set_exception(ControllerError("the control process is shutting down"))

    def _waiting(self) -> list[tuple[Callable[[], Any], Future[Any]]]:
        waiting = []
        try:
            while True:
                waiting.append(self._queue.get_nowait())
        except Empty:
            return waiting
