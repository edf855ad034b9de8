"""Run functions on a copy of this process, with a copy of the robot in it."""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Final, NoReturn, TypeVar

_T = TypeVar("_T")
_LOOK: Final = 1.0  # [s] between two checks that the copied process still exists


class CopyError(Exception):
    """A copy gives no result."""


class LastingCopy:
    """A copy of this process that executes requests until its end.

    `serve` runs in the copy, with the requests that arrive through `connection`, and with the
    copy's end of the connection for the answers. The requests end with `end`, and with the end of
    the copied process.
    """

    def __init__(self, serve: Callable[[Iterator[Any], Connection[Any, Any]], None]) -> None:
        self.connection, other = Pipe()
        own = os.getpid()
        self._pid = _fork()
        if self._pid == 0:
            code = 1
            try:
                signal.signal(signal.SIGINT, signal.SIG_IGN)  # its parent ends it
                self.connection.close()
                serve(_asked(other, own), other)
                code = 0
            except Exception:
                traceback.print_exc()  # its parent gets the end of the connection only
            finally:
                os._exit(code)
        other.close()

    def end(self) -> None:
        """End it, after what it does at present.

        Not by a signal: a test runner may have handlers, which a copy of it inherits. Nor by the
        end of the connection, of which later copies have a copy.
        """
        with suppress(OSError):  # it has ended already
            self.connection.send(None)
        os.waitpid(self._pid, 0)
        self.connection.close()


def _asked(connection: Connection[Any, Any], parent: int) -> Iterator[Any]:
    while True:
        while not connection.poll(_LOOK):
            if os.getppid() != parent:
                return
        request = connection.recv()
        if request is None:
            return
        yield request


def in_copy(function: Callable[[], _T], timeout: int | None = None) -> _T:
    """Return what `function` returns in a copy of this process (fork); nothing changes in this one.

    The copy is ended after `timeout` [s] of processor time, which does not depend on the load of
    the machine. The result must be picklable.

    Raises CopyError for an exception in the copy, and when there is no result in time.
    """
    receiver, sender = Pipe(duplex=False)
    pid = _fork()
    if pid == 0:
        _run(function, sender, timeout)
    sender.close()
    found: list[_T] = []
    try:
        found.append(receiver.recv())
    except EOFError:
        pass
    except BaseException:  # an interrupt: the copy must not be left behind
        os.kill(pid, signal.SIGKILL)
        raise
    finally:
        receiver.close()
        _, status = os.waitpid(pid, 0)
    if found:
        return found[0]
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU:
        raise CopyError(f"it takes more than {timeout} s of processor time")
    raise CopyError("it ended without a result")


def _fork() -> int:
    with warnings.catch_warnings():
        # Python warns of other threads, such as the test runner's: the copy needs none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        # A robot leaves hardly any garbage in cycles. To search for it makes a bring-up in a copy a
        # sixth longer (measured), and copies the memory that it writes to.
        gc.disable()
    return pid


def _run(
    function: Callable[[], object], sender: Connection[Any, Any], timeout: int | None
) -> NoReturn:
    """Be the copy."""
    code = 1
    try:
        if timeout is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (timeout, timeout + 1))
        sender.send(function())
        sys.stdout.flush()
        code = 0
    finally:
        os._exit(code)
