"""Keep a processor busy for less than a second.

    python cpu_hog.py SECONDS                 like any other program
    python cpu_hog.py SECONDS CORE PRIORITY   that core, by SCHED_FIFO

Says "ready", and is told when to begin: [s] on the monotonic clock, so that several begin together.
"""

import os
import resource
import sys
import time

LONGEST = 0.9  # [s] the kernel ends an urgent one then, whatever it does


def main(seconds: float, core: float = -1.0, priority: float = 0.0) -> None:
    """Hog."""
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
