"""A time limit for the destruction of nodes, by which a process that is done cannot hang.

Fast DDS of the wheels waits for a callback of discovery before it destroys a participant. If one is
under way at that moment, the wait has no end, and it holds the interpreter: neither a signal nor a
thread of Python ends it. Seen once in about 200 ends of `hc mode` on a busy machine, while others
left the robot.
"""

import faulthandler
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# [s]; a tenth of a second is usual, but a process at idle priority may have to wait for seconds.
LIMIT: Final = 15.0
_STDERR: Final = 2  # the file descriptor: sys.stderr may have none


@contextmanager
def limited_close(limit: float = LIMIT) -> Iterator[None]:
    """End the process with exit code 1 and a traceback if the body takes longer than `limit` [s].

    The body destroys nodes. What the process has to do must be done before.
    """
    faulthandler.dump_traceback_later(limit, exit=True, file=_STDERR)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
