"""Functions that run in another thread."""

from __future__ import annotations

import threading

import pytest

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.machine.linux import LINUX
from humanoid_controller_manager.ros.execution.executor_calls import ExecutorCalls

PATIENCE = 60.0  # [s] until a test gives up on another thread; never waited for when all is well


class Errand:
    """One call, made by a separate thread."""

    def __init__(self, errands: ExecutorCalls, function: object) -> None:
        self.result: object = None
        self.error: BaseException | None = None
        self._errands = errands
        self._function = function
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        try:
            self.result = self._errands.run(self._function)  # type: ignore[type-var,arg-type]
        except BaseException as error:
            self.error = error

    def join(self) -> None:
        self._thread.join(PATIENCE)
        assert not self._thread.is_alive()


def _waiting(function: object) -> tuple[ExecutorCalls, Errand]:
    """Return a call that has been handed over and not been executed."""
    woken = threading.Event()
    errands = ExecutorCalls(woken.set, LINUX)
    errand = Errand(errands, function)
    assert woken.wait(PATIENCE)
    return errands, errand


def test_a_function_runs_in_the_thread_that_does_the_errands() -> None:
    errands, errand = _waiting(threading.get_ident)
    errands.do_all()
    errand.join()
    assert errand.result == threading.get_ident()


def test_an_exception_of_a_function_reaches_its_caller() -> None:
    def fail() -> None:
        raise ControllerError("no")

    errands, errand = _waiting(fail)
    errands.do_all()
    errand.join()
    assert isinstance(errand.error, ControllerError)


def test_what_waits_at_the_end_is_refused_and_never_done() -> None:
    done: list[int] = []
    errands, errand = _waiting(lambda: done.append(1))
    errands.close()
    errands.do_all()
    errand.join()
    assert "shutting down" in str(errand.error)
    assert done == []


def test_what_comes_after_the_end_is_refused_at_once() -> None:
    errands = ExecutorCalls(lambda: None, LINUX)
    errands.close()
    with pytest.raises(ControllerError, match="shutting down"):
        errands.run(lambda: 1)
