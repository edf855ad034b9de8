"""The guard process, `python -m humanoid_devices_can.guard`; `Guard` starts it."""

import logging
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Final

from humanoid_control_common.machine.realtime import LOOP_PRIORITY, make_thread_realtime
from humanoid_devices_can.bus.bus import OpenBus, SharedCanBus
from humanoid_devices_can.guard.channel import GOOD_BYE, GuardJob, GuardMemory, Stage
from humanoid_devices_can.guard.disabling import disable_motors

PRIORITY: Final = LOOP_PRIORITY + 1  # a loop that hangs must not block the guard
LOOK: Final = 0.02  # [s] between two looks
STANDS_STILL: Final = "the control process stands still"
IS_GONE: Final = "the control process is gone"
LEAST_LOOKS: Final = 4  # without news; after a hold-up of the machine the guard may run first
_OOM_SCORE_ADJUSTMENT: Final = "-1000"  # the kernel spares the guard when memory runs out

logger = logging.getLogger("can guard")


def main() -> int:
    """Guard until a good-bye, or until the motors are disabled. Return 1 if that failed."""
    # The guard outlives its control process, whatever signal ends that one.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # needs a privilege
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE_ADJUSTMENT)
    make_thread_realtime(PRIORITY)  # as far as permitted
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s", level=logging.INFO)
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as beginning:
        line = beginning.readline()  # unbuffered: not a byte more
    if not line:
        return 0  # the control process ended before it enabled anything
    job = GuardJob.decode(line)
    pipe = Pipe(sys.stdin.fileno())
    steps = guard(job, GuardMemory(job.page), pipe, SharedCanBus, time.monotonic)
    while True:
        try:
            pipe.wait(next(steps))
        except StopIteration as end:
            return int(end.value)


class Pipe:
    """The pipe from the control process, after the job."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.last: bytes | None = None  # GOOD_BYE; empty: the process ended without it

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until the control process says good-bye or ends."""
        if self.last is not None:
            time.sleep(seconds)
        elif select.select([self._descriptor], [], [], seconds)[0]:
            self.last = os.read(self._descriptor, len(GOOD_BYE))


class StallDetector:
    """Judges from successive looks whether the control loop stands still. Times in [s]."""

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._fed, self._since, self._looks = 0.0, 0.0, 0

    def stands_still(self, fed: float, now: float) -> bool:
        """Return whether a loop that has fed the guard `fed` times by `now` stands still.

        0 times: the loop has not begun, or has ended in order. After a hold-up of the machine,
        LEAST_LOOKS without news are needed: the guard may run before the loop does.
        """
        if fed != self._fed:
            self._fed, self._since, self._looks = fed, now, 0
        self._looks += 1
        overdue = now - self._since > self._patience
        return fed > 0.0 and overdue and self._looks > LEAST_LOOKS


def guard(
    job: GuardJob, page: GuardMemory, pipe: Pipe, open_bus: OpenBus, clock: Callable[[], float]
) -> Generator[float, None, int]:
    """Guard in steps that yield the time [s] until the next one; return the exit code."""
    while True:
        reason = yield from _watch(page, StallDetector(job.patience), pipe, clock)
        if not reason:
            return 0
        problem = yield from _act(job, page, open_bus, clock)
        if not problem:
            logger.critical("%s: disabled %s", reason, job.motors)
            return 0
        logger.critical("%s, and not disabled: %s: %s", reason, job.motors, problem)
        if reason == IS_GONE:
            return 1
        # The stalled process may hold the adapter until it ends, or run again and fail again.


def _act(
    job: GuardJob, page: GuardMemory, open_bus: OpenBus, clock: Callable[[], float]
) -> Generator[float, None, str]:
    """Disable the motors and return the failure; the memory page shows the outcome in any case."""
    outcome = Stage.FAILED
    page.set_stage(Stage.ACTS, clock())
    try:
        problem = yield from disable_motors(job, open_bus, clock)
        if not problem:
            outcome = Stage.DONE
    finally:
        page.set_stage(outcome, clock())
    return problem


def _watch(
    page: GuardMemory, detector: StallDetector, pipe: Pipe, clock: Callable[[], float]
) -> Generator[float, None, str]:
    """Watch until the guard must act and return the reason; empty after a good-bye."""
    while pipe.last is None:
        now = clock()
        page.mark_alive(now)
        if detector.stands_still(page.fed, now):
            return STANDS_STILL
        yield LOOK
    return "" if pipe.last else IS_GONE


if __name__ == "__main__":
    sys.exit(main())
