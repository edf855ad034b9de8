"""What tests of several packages share."""

from __future__ import annotations

import gc
import os
import random
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DOMAINS: Final = range(1, 102)  # these leave the ports of other programs alone


def own_domains() -> list[int]:
    """ROS domains for what tests of this process start, in random order.

    Of pytest-xdist's workers, which run side by side, each has its own: what one of them starts
    never meets what another one has started.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    worker = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw"))
    domains = DOMAINS[worker::workers]
    return random.sample(domains, len(domains))


@dataclass(frozen=True, slots=True)
class Kept:
    """What something that ran has left behind in this process."""

    blocks: int  # of Python's memory: an object has one or more
    memory: int  # [kB] of anonymous pages
    descriptors: int  # open files


def kept_by(run: Callable[[], object]) -> Kept:
    """What `run` keeps. What fills up to a bound has to be full before."""
    before = _held()
    run()
    after = _held()
    return Kept(*(now - then for now, then in zip(after, before, strict=True)))


def _held() -> tuple[int, int, int]:
    gc.collect()
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    (anonymous,) = (line.split()[1] for line in lines if line.startswith("RssAnon:"))
    return sys.getallocatedblocks(), int(anonymous), len(os.listdir("/proc/self/fd"))
