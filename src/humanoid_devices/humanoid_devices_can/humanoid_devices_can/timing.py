"""Time-outs and intervals of the CAN engine, its clock, and the threads that run its steps."""

import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Final, Protocol, TypeVar

from humanoid_control_common.machine.realtime import COMPANION_PRIORITY, make_thread_realtime

Result = TypeVar("Result")
Steps = Generator[float, None, None]  # each step yields the time [s] until the next one is due


class Worker(Protocol):
    """Steps that run beside the caller."""

    def is_alive(self) -> bool:
        """Return whether steps are left."""

    def join(self) -> None:
        """Return after the last step."""


class Workers(Protocol):
    """Runs steps, each when it is due. Tests put a scheduler of stepped time in its place."""

    def start(self, name: str, steps: Steps, wake: threading.Event) -> Worker:
        """Run `steps` beside the caller; `wake` runs the next one early.

        Raises RuntimeError if that is impossible.
        """

    def run(self, steps: Generator[float, None, Result]) -> Result:
        """Run `steps` in the calling thread and return their result."""


class Threads:
    """One thread for each `start`. See Workers."""

    def start(self, name: str, steps: Steps, wake: threading.Event) -> Worker:
        """See Workers."""
        thread = threading.Thread(target=_run, args=(steps, wake), name=name, daemon=True)
        thread.start()
        return thread

    def run(self, steps: Generator[float, None, Result]) -> Result:
        """See Workers."""
        never = threading.Event()
        while True:
            try:
                never.wait(next(steps))
            except StopIteration as end:
                result: Result = end.value
                return result


THREADS: Final[Workers] = Threads()


def _run(steps: Steps, wake: threading.Event) -> None:
    # Without real-time priority another process could delay commands although the loop is on time;
    # and a thread that the loop starts inherits the loop's priority.
    make_thread_realtime(COMPANION_PRIORITY)
    for wait in steps:
        if wait:
            wake.wait(wait)
            wake.clear()  # before the next step, which sees the reason of the wake-up


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Time-outs and intervals [s]. Those of the documents are marked; the others are ours."""

    enable_timeout: float = 3.0  # a motor may take a second to enable
    enable_retry: float = 1.4  # a repeated order may restart a motor's enabling
    prepare_timeout: float = 1.0
    disable_timeout: float = 1.0
    retry: float = 0.1  # for orders that a motor obeys at once
    silence: float = 0.2  # RX_TIMEOUT (documents)
    gains_refresh: float = 0.5  # gains are sent again at 2 Hz (documents)
    recent: float = 1.0  # for how long an event counts as present
    overrun_periods: float = 4.0  # of the control loop; a command that waits longer is an overrun
    shortest_overrun: float = 0.2  # as RX_TIMEOUT: a hold-up alone must not look like an overrun
    keep_alive: float = 0.05  # between two commands while the loop sends none
    poll: float = 0.05  # longest wait of the receiving thread
    resend: float = 0.002  # until a frame that a full queue refused is tried again
    clock: Callable[[], float] = time.perf_counter  # monotonic
    workers: Workers = THREADS
