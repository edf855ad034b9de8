"""Signals that ask the control process to end. Imports nothing slow: in force from the start."""

from __future__ import annotations

import signal
from threading import Event
from types import FrameType

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def stop_on_signals() -> Event:
    """From now on SIGINT and SIGTERM, however often, set the returned event and do nothing else."""
    stop = Event()

    def handle(number: int, frame: FrameType | None) -> None:
        stop.set()

    for number in STOP_SIGNALS:
        signal.signal(number, handle)
    return stop


def ignore_stop_signals() -> None:
    """For the last moments: Python gives signals their deadly defaults back while it ends."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
