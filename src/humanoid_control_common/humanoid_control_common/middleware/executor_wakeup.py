"""Wake executors periodically, so that their waits do not depend on the system's clock."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Final

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine

PERIOD: Final = 0.05  # [s]


@contextmanager
def kept_awake(wake: Callable[[], object], machine: Machine = LINUX) -> Iterator[None]:
    """Call `wake`, which ends the wait of an executor, every 50 ms while the context is open.

    Fast DDS of the wheels (built for an old C library) waits until a time of the system's clock:
    after the clock was set back by an hour, a wait of 50 ms took an hour, and so did timers and
    Ctrl-C.
    """
    ended = Event()

    def wake_again() -> None:
        while not ended.is_set():
            machine.sleep(PERIOD)  # by the monotonic clock
            wake()

    thread = machine.start("wake", wake_again)
    try:
        yield
    finally:
        ended.set()
        thread.join()
