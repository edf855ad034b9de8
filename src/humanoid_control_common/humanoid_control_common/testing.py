"""Helpers of tests of several packages."""

import gc
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from humanoid_control_common.machine.machine import Machine, Thread

DOMAINS: Final = range(1, 102)  # these leave the ports of other programs alone
SHARE: Final = "HUMANOID_TEST_SHARE"  # variable of a test run: "0/2" is the first of two


def own_domains() -> list[int]:
    """Return the ROS domains for the programs that tests of this process start, in random order.

    Each of pytest-xdist's parallel workers has its own, and each of parallel test runs has its
    SHARE: their programs never meet.
    """
    share, _, shares = os.environ.get(SHARE, "0/1").partition("/")
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    domains = DOMAINS[int(share) :: int(shares)][worker::workers]
    return random.sample(domains, len(domains))


@dataclass(frozen=True, slots=True)
class Kept:
    """Resources of this process that a call has not released."""

    blocks: int  # of Python's memory; an object has one or more
    memory: int  # [kB] of anonymous pages
    descriptors: int  # open files


def kept_by(run: Callable[[], object]) -> Kept:
    """Return the resources that `run` keeps. Bounded buffers must be full before."""
    before = _held()
    run()
    after = _held()
    return Kept(*(now - then for now, then in zip(after, before, strict=True)))


def _held() -> tuple[int, int, int]:
    gc.collect()
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (anonymous,) = (line.split()[1] for line in lines if line.startswith("RssAnon:"))
    return sys.getallocatedblocks(), int(anonymous), len(os.listdir("/proc/self/fd"))


class TestMachine(Machine):
    """A machine with the time of a test. It starts no thread; a test that sleeps overrides it."""

    __test__ = False  # for pytest, which looks for classes of tests by this name

    def __init__(
        self, clock: Callable[[], float], system_time_ns: Callable[[], int] = lambda: 0
    ) -> None:
        self._clock, self._system_time_ns = clock, system_time_ns

    def clock(self) -> float:
        """See Machine."""
        return self._clock()

    def clock_ns(self) -> int:
        """See Machine."""
        return round(self._clock() * 1e9)

    def system_time_ns(self) -> int:
        """See Machine."""
        return self._system_time_ns()

    def sleep(self, seconds: float) -> None:
        """See Machine."""
        raise NotImplementedError(f"nothing here sleeps: {seconds} s")

    def wait(self, event: Event, seconds: float | None = None) -> bool:
        """See Machine."""
        return event.is_set()

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        """See Machine."""
        raise NotImplementedError(f"no thread here: {name}")

    def make_realtime(self, priority: int) -> str:
        """See Machine."""
        return ""

    def make_ros_side_realtime(self) -> None:
        """See Machine."""
