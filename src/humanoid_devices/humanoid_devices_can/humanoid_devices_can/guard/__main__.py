"""The guard process, `python -m humanoid_devices_can.guard`; `Guard` starts it."""

import logging
import mmap
import os
import select
import signal
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.realtime import LOOP_PRIORITY
from humanoid_devices_can.bus.opening import open_bus
from humanoid_devices_can.guard.channel import GOOD_BYE, GuardJob, GuardMemory
from humanoid_devices_can.guard.stall_detection import guard

PRIORITY: Final = LOOP_PRIORITY + 1  # a loop that hangs must not block the guard
_OOM_SCORE_ADJUSTMENT: Final = "-1000"  # the kernel spares the guard when memory runs out


def main() -> int:
    """Guard until a good-bye, or until the motors are disabled. Return 1 if that failed."""
    # The guard outlives its control process, whatever signal ends that one.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    with suppress(OSError):  # needs a privilege
        Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE_ADJUSTMENT)
    LINUX.make_realtime(PRIORITY)  # as far as permitted
    logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s", level=logging.INFO)
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as beginning:
        line = beginning.readline()  # unbuffered: not a byte more
    if not line:
        return 0  # the control process ended before it enabled anything
    job, page = GuardJob.decode(line)
    memory = GuardMemory(mmap.mmap(page, mmap.PAGESIZE))
    # The control process may have the bus open, too.
    opens = partial(open_bus, shared=True)
    return guard(job, memory, Pipe(sys.stdin.fileno()), opens, LINUX.clock)


class Pipe:
    """The pipe from the control process, after the job. See ControlProcess."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self.last: bytes | None = None

    def wait(self, seconds: float) -> None:
        """See ControlProcess."""
        if self.last is not None:
            LINUX.sleep(seconds)
        elif select.select([self._descriptor], [], [], seconds)[0]:
            self.last = os.read(self._descriptor, len(GOOD_BYE))


if __name__ == "__main__":
    sys.exit(main())
