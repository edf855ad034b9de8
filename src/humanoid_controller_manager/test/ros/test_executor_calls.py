"""Functions that run in another thread."""

from __future__ import annotations

import threading

import pytest

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.machine.linux import LINUX
from humanoid_controller_manager.ros.execution.executor_calls import ExecutorCalls

TIMEOUT = 60.0  # [s] until a test gives up on another thread; never waited for when all is well


class CallInThread:
    """One call, made by a separate thread."""

    def __init__(self, calls: ExecutorCalls, function: object) -> None:
        self.result: object = None
        self.error: BaseException | None = None
        self._calls = calls
        self._function = function
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._calls.run(self._function)  # type: ignore[type-var,arg-type]
        except BaseException as error:
            self.error = error

    def join(self) -> None:
        self._thread.join(TIMEOUT)
        assert not self._thread.is_alive()


def _waiting(function: object) -> tuple[ExecutorCalls, CallInThread]:
    """Return a call that has been handed over and not been executed."""
    woken = threading.Event()
    calls = ExecutorCalls(woken.set, LINUX)
    call = CallInThread(calls, function)
    assert woken.wait(TIMEOUT)
    return calls, call


def test_a_function_runs_in_the_thread_that_does_the_errands() -> None:
    calls, call = _waiting(threading.get_ident)
    calls.do_all()
    call.join()
    assert call.result == threading.get_ident()


def test_an_exception_of_a_function_reaches_its_caller() -> None:
    def fail() -> None:
        raise ControllerError("no")

    calls, call = _waiting(fail)
    calls.do_all()
    call.join()
    assert isinstance(call.error, ControllerError)


def test_waiting_call_is_refused_at_the_end_and_never_run() -> None:
    done: list[int] = []
    calls, call = _waiting(lambda: done.append(1))
    calls.close()
    calls.do_all()
    call.join()
    assert "shutting down" in str(call.error)
    assert done == []


def test_call_after_the_end_is_refused_at_once() -> None:
    calls = ExecutorCalls(lambda: None, LINUX)
    calls.close()
    with pytest.raises(ControllerError, match="shutting down"):
        calls.run(lambda: 1)
