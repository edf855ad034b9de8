"""Functions that run on a copy of this process, so of a robot in it."""

from __future__ import annotations

import os
import resource
import signal
import sys
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, NoReturn, TypeVar

_T = TypeVar("_T")


class CopyError(Exception):
    """A copy gives no result."""


def in_copy(function: Callable[[], _T], patience: int | None = None) -> _T:
    """Return what `function` returns in a copy of this process (fork); nothing changes in this one.

    `patience` [s] of processor time: the copy is ended then, however busy the machine is. The
    result must be one that can be pickled.

    Raises CopyError for an exception in the copy, and when there is no result in time.
    """
    receiver, sender = Pipe(duplex=False)
    with warnings.catch_warnings():
        # Python warns of other threads, such as the test runner's: the copy needs none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        _run(function, sender, patience)
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
        raise CopyError(f"it takes more than {patience} s of processor time")
    raise CopyError("it ended without a result")


def _run(
    function: Callable[[], object], sender: Connection[Any, Any], patience: int | None
) -> NoReturn:
    """Be the copy."""
    code = 1
    try:
        if patience is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (patience, patience + 1))
        sender.send(function())
        sys.stdout.flush()
        code = 0
    finally:
        os._exit(code)
