"""The component's clock: real time, or a test's replacement."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


def _wait(event: threading.Event, seconds: float) -> None:
    event.wait(seconds)


@dataclass(frozen=True, slots=True)
class Clock:
    """The only source of time, and the only way to wait."""

    clock: Callable[[], float] = time.perf_counter  # [s], monotonic
    sleep: Callable[[float], None] = time.sleep  # [s]
    # Waits for so many seconds, or until the event is set.
    wait: Callable[[threading.Event, float], None] = _wait
