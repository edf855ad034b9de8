"""Signals that end a process. The module imports nothing slow: they work from the start."""

import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from threading import Event
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
AGAIN = 1.0  # [s] after which a second SIGINT counts: terminal and launch may both send the first


@dataclass(slots=True)
class EndRequests:
    """Requests to end a control process. Plain flags: a signal handler must not wait for a lock."""

    in_order: bool = False  # damp the joints first, see Companion.lead_down
    at_once: bool = False

    def end_at_once(self) -> None:
        """Request the end without a way down."""
        self.at_once = True


def end_on_signals() -> EndRequests:
    """Handle signals: SIGINT requests an ordered end; SIGTERM, or SIGINT again, one at once."""
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
    """Handle SIGINT and SIGTERM: they set the returned event and do nothing else."""
    return _stop_on(STOP_SIGNALS)


def stop_after_others() -> Event:
    """Handle SIGINT and SIGTERM as `stop_on_signals`, but an ignored SIGINT stays ignored.

    The parent process needs this one until others have ended, and ends it by SIGTERM then.
    """
    ignored = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    return _stop_on((signal.SIGTERM,) if ignored else STOP_SIGNALS)


def _stop_on(numbers: Iterable[signal.Signals]) -> Event:
    stop = Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in numbers:
        signal.signal(number, handle)
    return stop


def ignore_stop_signals() -> None:
    """Ignore further signals: Python restores their deadly defaults while it ends."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
