"""`python -m humanoid_devices_can.guard`: started by `Guard`, of no use to anybody else."""

from __future__ import annotations

import logging
import os
import select
import signal
import sys
import time
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
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as pipe:
        line = pipe.readline()  # and not a byte more
    if not line:
        return 0  # ended before it said what to do: nothing was enabled
    job = GuardJob.decode(line)
    return _guard(job, GuardPage(job.page), sys.stdin.fileno(), SharedCanBus)


def _guard(job: GuardJob, page: GuardPage, pipe: int, open_bus: OpenBus) -> int:
    while True:
        reason = _watch(page, Vigil(job.patience), pipe)
        if not reason:
            return 0
        problem = _act(job, page, open_bus)
        if not problem:
            logger.critical("%s: disabled %s", reason, job.motors)
            return 0
        logger.critical("%s, and not disabled: %s: %s", reason, job.motors, problem)
        if reason == IS_GONE:
            return 1
        # It may have the adapter for itself until it ends; or it comes back, and may fail again.


def _act(job: GuardJob, page: GuardPage, open_bus: OpenBus) -> str:
    """Disable the motors: what went wrong. The page knows, whatever happens."""
    outcome = Stage.FAILED
    page.tell(Stage.ACTS, time.monotonic())
    try:
        problem = disable_motors(job, open_bus)
        if not problem:
            outcome = Stage.DONE
    finally:
        page.tell(outcome, time.monotonic())
    return problem


def _watch(page: GuardPage, vigil: Vigil, pipe: int) -> str:
    """Until there is something to do: why, or empty after a good-bye."""
    while True:
        now = time.monotonic()
        page.look(now)
        if vigil.stands_still(page.fed, now):
            return STANDS_STILL
        if select.select([pipe], [], [], LOOK)[0]:
            return "" if os.read(pipe, len(GOOD_BYE)) else IS_GONE


def _become_hard_to_end() -> None:
    """It ends with its control process, however that is ended, and after it: not along with it."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # a privilege
        Path("/proc/self/oom_score_adj").write_text(_SPARED)
    make_thread_realtime(PRIORITY)  # as far as permitted


if __name__ == "__main__":
    sys.exit(main())
