"""Real-time priority and memory locking of threads, as far as Linux permits."""

import ctypes
import gc
import os
import sys
import threading
from contextlib import suppress
from typing import Final

LOOP_PRIORITY: Final = 80  # of SCHED_FIFO: below the kernel's own interrupt threads
# Of the process's other Python threads: an ordinary process that preempts one of them, while it
# holds the interpreter, would make the loop wait.
COMPANION_PRIORITY: Final = 40
# Of the middleware's own threads: they hold locks that publishing needs, but a flood of messages
# must not stop the other threads.
MIDDLEWARE_PRIORITY: Final = 30
# Of a foreign computation: one without an end must not stop callbacks, nor what they wait for.
INFERENCE_PRIORITY: Final = 20
SWITCH_INTERVAL: Final = 0.0001  # [s] another Python thread may hold the interpreter
_PR_SET_TIMERSLACK: Final = 29  # <linux/prctl.h>
_MCL_ALL_ON_FAULT: Final = 1 | 2 | 4  # MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT, <sys/mman.h>


def make_thread_realtime(priority: int) -> str:
    """Give the calling thread SCHED_FIFO and exact timers; return what was refused, in words.

    Empty if everything was granted.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)  # 1 ns; needs no permission
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except PermissionError:
        return (
            "no real-time priority (SCHED_FIFO): not permitted; allow it with 'rtprio' in "
            "/etc/security/limits.conf"
        )
    if libc.mlockall(_MCL_ALL_ON_FAULT) != 0:
        return (
            "memory is not locked (mlockall refused): raise 'memlock' in /etc/security/limits.conf"
        )
    return ""


def make_ros_side_realtime() -> None:
    """Give SCHED_FIFO to the calling thread and to all that Python did not start, if permitted.

    Those are the threads of the middleware and of plug-ins. As ordinary threads they delayed
    received messages by up to 0.14 s (measured while other programs were busy). Python's own
    threads set their priority themselves.
    """
    make_thread_realtime(COMPANION_PRIORITY)
    pythons = {thread.native_id for thread in threading.enumerate()}
    with suppress(OSError):  # not permitted, or no file descriptor left
        for thread in set(map(int, os.listdir("/proc/self/task"))) - pythons:
            with suppress(ProcessLookupError):  # it has ended meanwhile
                os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(MIDDLEWARE_PRIORITY))


def calm_interpreter() -> None:
    """Shorten Python's own pauses: fast thread switches, short garbage collections.

    All objects made so far are exempt from collections for good. A full collection walks the other
    ones, about 2000, in about 1 ms (measured on the virtual robot). Without full collections the
    memory of a plug-in with reference cycles would grow without end.
    """
    sys.setswitchinterval(SWITCH_INTERVAL)
    gc.collect()
    gc.freeze()
