"""Start programs that keep the processors busy for less than a second."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final

from fault_campaign.programs import WITH_US

_HOG: Final = str(Path(__file__).with_name("cpu_hog.py"))
_TOGETHER: Final = 0.1  # [s] until all programs have their time to begin


# Called when the programs are ready, just before they begin.
Ready = Callable[[], None]


def ordinary(count: int, seconds: float, ready: Ready) -> None:
    """Run `count` programs without priority; return when they have ended."""
    _run([() for _ in range(count)], seconds, ready)


def urgent(priority: int, seconds: float, ready: Ready) -> None:
    """Run one program on each core, which only threads above `priority` can interrupt."""
    _run([(core, priority) for core in sorted(os.sched_getaffinity(0))], seconds, ready)


@contextmanager
def more_urgent(process: int, priority: int) -> Iterator[None]:
    """Give all threads of a process SCHED_FIFO of `priority` while the context is open."""
    before = {}
    for thread in map(int, os.listdir(f"/proc/{process}/task")):
        with suppress(ProcessLookupError):
            before[thread] = os.sched_getscheduler(thread), os.sched_getparam(thread)
            os.sched_setscheduler(thread, os.SCHED_FIFO, os.sched_param(priority))
    try:
        yield
    finally:
        for thread, (policy, parameters) in before.items():
            with suppress(ProcessLookupError):
                os.sched_setscheduler(thread, policy, parameters)


def _run(places: list[tuple[int, ...]], seconds: float, ready: Ready) -> None:
    command = [*WITH_US, sys.executable, "-S", _HOG, str(seconds)]
    pipe = subprocess.PIPE
    start = partial(subprocess.Popen[str], stdin=pipe, stdout=pipe, text=True)
    with ExitStack() as cleanup:
        hogs = [cleanup.enter_context(start([*command, *map(str, place)])) for place in places]
        for hog in hogs:
            assert hog.stdout is not None
            hog.stdout.readline()
        ready()
        begin = time.monotonic() + _TOGETHER
        for hog in hogs:
            assert hog.stdin is not None
            hog.stdin.write(f"{begin}\n")
            hog.stdin.flush()
