"""The clock the component lives on: real time, or whatever a test puts in its place."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


def _wait(event: threading.Event, seconds: float) -> None:
    event.wait(seconds)


@dataclass(frozen=True, slots=True)
class Timebase:
    """Everything that asks for the time or waits does it through one of these."""

    clock: Callable[[], float] = time.perf_counter  # [s], monotonic
    sleep: Callable[[float], None] = time.sleep  # [s]
    # Sleeps for so many seconds, or until the event is set.
    wait: Callable[[threading.Event, float], None] = _wait
