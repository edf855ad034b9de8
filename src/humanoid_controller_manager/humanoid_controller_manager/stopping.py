"""Signals that ask a process to end. Imports nothing slow: in force from the start."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from threading import Event
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN = 1.0  # [s] after a SIGINT the next one is meant: terminal and launch may send it twice


@dataclass(slots=True)
class EndRequests:
    """How a control process has been asked to end. Flags: a handler must not wait for a lock."""

    in_order: bool = False  # damp the joints first, see LeadsDown
    at_once: bool = False

    def end_at_once(self) -> None:
        """Ask for the end, whatever the joints do."""
        self.at_once = True


def end_on_signals() -> EndRequests:
    """From now on SIGINT asks for an end in order; SIGTERM, or SIGINT again, for one at once."""
    requests = EndRequests()
    first = 0.0

    def handle(number: int, _: FrameType | None) -> None:
        nonlocal first
        now = time.monotonic()
        if number == signal.SIGTERM or (requests.in_order and now - first >= AGAIN):
            requests.at_once = True
        elif not requests.in_order:
            first = now
            requests.in_order = True

    for number in STOP_SIGNALS:
        signal.signal(number, handle)
    return requests


def stop_on_signals() -> Event:
    """From now on SIGINT and SIGTERM, however often, set the returned event and do nothing else.

    A SIGINT that is ignored already stays so: whoever started this process needs it until other
    processes have ended, and ends it by SIGTERM then.
    """
    stop = Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in STOP_SIGNALS:
        if number is signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handle)
    return stop


def ignore_stop_signals() -> None:
    """For the last moments: Python gives signals their deadly defaults back while it ends."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
