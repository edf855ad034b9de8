"""Signals that ask a process to end. Imports nothing slow: in force from the start."""

from __future__ import annotations

import signal
from threading import Event
from types import FrameType
from typing import NamedTuple

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class EndRequests(NamedTuple):
    """How a control process has been asked to end."""

    in_order: Event  # damp the joints first, see LeadsDown
    at_once: Event


def end_on_signals() -> EndRequests:
    """From now on SIGINT asks for an end in order, SIGTERM for one at once; nothing else happens.

    Who asks with SIGINT first, and with SIGTERM when that takes too long, does what launch, `hc up`
    and container engines do.
    """
    requests = EndRequests(Event(), Event())
    _set_on(signal.SIGINT, requests.in_order)
    _set_on(signal.SIGTERM, requests.at_once)
    return requests


def stop_on_signals() -> Event:
    """From now on SIGINT and SIGTERM, however often, set the returned event and do nothing else.

    A SIGINT that is ignored already stays so: whoever started this process needs it until other
    processes have ended, and ends it by SIGTERM then.
    """
    stop = Event()
    for number in STOP_SIGNALS:
        if number is signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
            _set_on(number, stop)
    return stop


def ignore_stop_signals() -> None:
    """For the last moments: Python gives signals their deadly defaults back while it ends."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _set_on(number: signal.Signals, event: Event) -> None:
    def handle(_number: int, _frame: FrameType | None) -> None:
        event.set()

    signal.signal(number, handle)
