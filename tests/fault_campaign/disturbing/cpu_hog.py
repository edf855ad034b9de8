"""Keep a processor busy for less than a second.

    python cpu_hog.py SECONDS                 without priority
    python cpu_hog.py SECONDS CORE PRIORITY   on that core, by SCHED_FIFO

The program prints "ready" and reads its time to begin, [s] on the monotonic clock, so that several
programs begin together.
"""

import os
import resource
import sys
import time

LONGEST = 0.9  # [s] of processor time after which the kernel ends an urgent program


def main(seconds: float, core: float = -1.0, priority: float = 0.0) -> None:
    """Read the time to begin, and keep the processor busy."""
    if core >= 0:
        limit = round(LONGEST * 1e6)
        resource.setrlimit(resource.RLIMIT_RTTIME, (limit, limit))
        os.sched_setaffinity(0, {int(core)})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(int(priority)))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    begin = float(sys.stdin.readline())
    time.sleep(max(begin - time.monotonic(), 0.0))
    while time.monotonic() < begin + seconds:
        pass


if __name__ == "__main__":
    main(*map(float, sys.argv[1:]))
