"""Signals that stop a process. The module imports nothing slow: they work from the start."""

import signal
from collections.abc import Iterable
from threading import Event
from types import FrameType
from typing import Final

from humanoid_control_common.machine.lock_event import LockEvent

STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


def stop_on_signals() -> Event:
    """Handle SIGINT and SIGTERM: they set the returned event and do nothing else."""
    return _stop_on(STOP_SIGNALS)


def stop_after_others() -> Event:
    """Handle SIGINT and SIGTERM as `stop_on_signals`, but an ignored SIGINT stays ignored.

    The parent process needs this one until others have ended, and ends it by SIGTERM then.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return _stop_on((signal.SIGTERM,) if ignored else STOP_SIGNALS)


def _stop_on(numbers: Iterable[signal.Signals]) -> Event:
    stop = LockEvent()  # an Event's `set` waits for ever if it interrupts `wait` or `set`

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in numbers:
        signal.signal(number, handle)
    return stop


def ignore_stop_signals() -> None:
    """Ignore further signals: Python restores their deadly defaults while it ends."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
