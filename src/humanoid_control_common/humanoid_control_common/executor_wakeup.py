"""Wakes executors periodically: their waits do not depend on the system's clock then."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Final, Protocol

PERIOD: Final = 0.05  # [s]


class Waits(Protocol):
    """An executor that can be woken."""

    def wake(self) -> None:
        """End its wait; it waits again if there is nothing to do."""


@contextmanager
def kept_awake(executor: Waits) -> Iterator[None]:
    """Wake `executor` every 50 ms while the context is open.

    Fast DDS of the wheels (built for an old C library) waits until a time of the system's clock:
    after the clock was set back by an hour, a wait of 50 ms took an hour, and so did timers and
    Ctrl-C.
    """
    ended = Event()

    def wake() -> None:
        while not ended.is_set():
            time.sleep(PERIOD)  # by the monotonic clock
            executor.wake()

    thread = Thread(target=wake, name="wake", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
