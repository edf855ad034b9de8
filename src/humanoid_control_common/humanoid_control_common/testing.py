"""Helpers of tests of several packages."""

import gc
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

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
