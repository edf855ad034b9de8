"""Functions that run on a copy of this process, so of a robot in it."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Callable
from multiprocessing import Pipe
from typing import TypeVar

_T = TypeVar("_T")


class CopyError(Exception):
    """A copy gives no result."""


def in_copy(function: Callable[[], _T], patience: float | None = None) -> _T:
    """Return what `function` returns in a copy of this process (fork); nothing changes in this one.

    `patience` [s]: the copy is ended then. The result must be one that can be pickled.

    Raises CopyError for an exception in the copy, and when there is no result in time.
    """
    receiver, sender = Pipe(duplex=False)
    with warnings.catch_warnings():
        # Python warns of other threads, such as the test runner's: the copy needs none of them.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        code = 1
        try:
            sender.send(function())
            sys.stdout.flush()
            code = 0
        finally:
            os._exit(code)
    sender.close()
    try:
        if not receiver.poll(patience):
            raise CopyError(f"it takes more than {patience:g} s")
        result: _T = receiver.recv()
    except EOFError:
        raise CopyError("it ended without a result") from None
    else:
        return result
    finally:
        receiver.close()
        os.kill(pid, signal.SIGKILL)  # no effect on one that has ended
        os.waitpid(pid, 0)
