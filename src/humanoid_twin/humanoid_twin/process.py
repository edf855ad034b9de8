"""What every process of the virtual robot does to start, to be on time, and to end."""

import ctypes
import gc
import logging
import os
import signal
import socket
from contextlib import ExitStack
from typing import Final

_log = logging.getLogger(__name__)
_TIMER_SLACK: Final = 29  # PR_SET_TIMERSLACK (linux/prctl.h)
_PRIORITY: Final = 50  # SCHED_FIFO


def stop_signals(cleanup: ExitStack, *, ignore_interrupt: bool = False) -> int:
    """A file descriptor that can be read as soon as the process is asked to end.

    By SIGTERM and SIGINT; `ignore_interrupt`: by SIGTERM only.
    """
    reader, writer = socket.socketpair()
    cleanup.callback(reader.close)
    cleanup.callback(writer.close)
    writer.setblocking(False)
    cleanup.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(writer.fileno()))
    interrupt = signal.SIG_IGN if ignore_interrupt else _noted
    for number, handler in ((signal.SIGTERM, _noted), (signal.SIGINT, interrupt)):
        cleanup.callback(signal.signal, number, signal.signal(number, handler))
    return reader.fileno()


def _noted(_number: int, _frame: object) -> None:
    """The signal has been written to the wake-up descriptor, which is all."""


def be_on_time(*, realtime: bool) -> None:
    """Wake on time, and never pause to collect garbage: what lives now lives to the end."""
    ctypes.CDLL(None, use_errno=True).prctl(_TIMER_SLACK, 1, 0, 0, 0)
    gc.collect()
    gc.freeze()
    gc.disable()
    if realtime:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        except PermissionError:
            _log.warning("no right to SCHED_FIFO (CAP_SYS_NICE); running as any other process")
