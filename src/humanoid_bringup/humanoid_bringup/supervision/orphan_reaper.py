"""Stop the processes that a killed `hc up` left running. Run as a file; standard library only.

    orphan_reaper.py FOLDER TIMEOUT

This is a separate process without a terminal. Its standard input is a pipe whose other end only
`hc` holds: "+PID" adds a process group, "-PID" removes it, and the end of the pipe means that `hc`
has ended. Then it sends SIGTERM to every group, after TIMEOUT [s] SIGKILL, and removes FOLDER, the
temporary files of `hc`.
"""

import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress


def watch(lines: Iterable[bytes]) -> dict[int, int]:
    """Follow the pipe to its end. Returns the process groups that are left, with their pidfds."""
    groups: dict[int, int] = {}
    for line in lines:
        process = int(line[1:])
        if line.startswith(b"-"):
            if process in groups:
                os.close(groups.pop(process))
            continue
        with suppress(ProcessLookupError):  # ended before this line was read
            groups[process] = os.pidfd_open(process)
    return groups


def end(groups: Mapping[int, int], timeout: float) -> None:
    """End every group. Returns when the leaders of all have ended."""
    deadline = time.monotonic() + timeout
    send(signal.SIGTERM, groups)
    poll = select.poll()
    for descriptor in groups.values():
        poll.register(descriptor, select.POLLIN)
    running = len(groups)
    while running and (remaining := deadline - time.monotonic()) > 0.0:
        for descriptor, _ in poll.poll(remaining * 1e3):
            poll.unregister(descriptor)
            running -= 1
    send(signal.SIGKILL, groups)  # what is left of them, and what they have started


def send(number: signal.Signals, groups: Iterable[int]) -> None:
    """Send a signal to every group that exists."""
    for group in groups:
        # Ended, or not permitted: the other groups must get the signal.
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


def main() -> None:
    """See the top of the file."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    folder, timeout = sys.argv[1], float(sys.argv[2])
    groups = watch(sys.stdin.buffer)
    if groups:
        end(groups, timeout)

    import shutil

    shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
