"""`python -m humanoid_devices_can.guard`: started by `Guard`, of no use to anybody else."""

from __future__ import annotations

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

from humanoid_controller_manager.realtime import LOOP_PRIORITY, make_thread_realtime
from humanoid_devices_can.bus import OpenBus, SharedCanBus
from humanoid_devices_can.guard.disabling import disable_motors
from humanoid_devices_can.guard.job import GOOD_BYE, GuardJob
from humanoid_devices_can.guard.page import GuardPage, Stage
from humanoid_devices_can.guard.vigil import Vigil

PRIORITY: Final = LOOP_PRIORITY + 1  # a loop that hangs must not keep it from its work
LOOK: Final = 0.02  # [s] between two looks
STANDS_STILL: Final = "the control process stands still"
IS_GONE: Final = "the control process is gone"
_SPARED: Final = "-1000"  # by the kernel when memory runs out

logger = logging.getLogger("can guard")


def main() -> int:
    """Guard until a good-bye, or until the motors are disabled. 1 if they could not be."""
    _become_hard_to_end()
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s", level=logging.INFO)
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as beginning:
        line = beginning.readline()  # and not a byte more
    if not line:
        return 0  # ended before it said what to do: nothing was enabled
    job = GuardJob.decode(line)
    pipe = Pipe(sys.stdin.fileno())
    steps = guard(job, GuardPage(job.page), pipe, SharedCanBus, time.monotonic)
    while True:
        try:
            pipe.wait(next(steps))
        except StopIteration as end:
            return int(end.value)


class Pipe:
    """What comes from the control process after the job."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.said: bytes | None = None  # its last words; empty: it ended without any

    def wait(self, seconds: float) -> None:
        """Wait for so long, or until it says its last words."""
        if self.said is not None:
            time.sleep(seconds)
        elif select.select([self._descriptor], [], [], seconds)[0]:
            self.said = os.read(self._descriptor, len(GOOD_BYE))


def guard(
    job: GuardJob, page: GuardPage, pipe: Pipe, open_bus: OpenBus, clock: Callable[[], float]
) -> Generator[float, None, int]:
    """The guard's work in steps, each with the time [s] until the next: its exit code."""
    while True:
        reason = yield from _watch(page, Vigil(job.patience), pipe, clock)
        if not reason:
            return 0
        problem = yield from _act(job, page, open_bus, clock)
        if not problem:
            logger.critical("%s: disabled %s", reason, job.motors)
            return 0
        logger.critical("%s, and not disabled: %s: %s", reason, job.motors, problem)
        if reason == IS_GONE:
            return 1
        # It may have the adapter for itself until it ends; or it comes back, and may fail again.


def _act(
    job: GuardJob, page: GuardPage, open_bus: OpenBus, clock: Callable[[], float]
) -> Generator[float, None, str]:
    """Disable the motors: what went wrong. The page knows, whatever happens."""
    outcome = Stage.FAILED
    page.tell(Stage.ACTS, clock())
    try:
        problem = yield from disable_motors(job, open_bus, clock)
        if not problem:
            outcome = Stage.DONE
    finally:
        page.tell(outcome, clock())
    return problem


def _watch(
    page: GuardPage, vigil: Vigil, pipe: Pipe, clock: Callable[[], float]
) -> Generator[float, None, str]:
    """Until there is something to do: why, or empty after a good-bye."""
    while pipe.said is None:
        now = clock()
        page.look(now)
        if vigil.stands_still(page.fed, now):
            return STANDS_STILL
        yield LOOK
    return "" if pipe.said else IS_GONE


def _become_hard_to_end() -> None:
    """It ends with its control process, however that is ended, and after it: not along with it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # a privilege
        Path("/proc/self/oom_score_adj").write_text(_SPARED)
    make_thread_realtime(PRIORITY)  # as far as permitted


if __name__ == "__main__":
    sys.exit(main())
