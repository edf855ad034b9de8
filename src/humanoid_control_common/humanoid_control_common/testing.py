"""Helpers of tests of several packages."""

import gc
import os
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Final

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.robot.domain_lock import take_domain_lock

DOMAINS: Final = range(1, 102)  # these leave the ports of other programs alone


@contextmanager
def reserved_domain() -> Iterator[int]:
    """Reserve a ROS domain that no other test has and no robot of this user is on.

    It is free again after the context, or when this process and its copies (fork) have ended;
    programs that this process starts do not hold it. Raises ConfigError if no domain is free.
    """
    domain, reservation = _reserve()
    with reservation:
        yield domain


@contextmanager
def on_reserved_domain() -> Iterator[int]:
    """Be on a reserved ROS domain, on this machine only, with all programs started from now on."""
    with reserved_domain() as domain, _on(domain):
        yield domain


def _reserve() -> tuple[int, ExitStack]:
    # At random: the domain that became free last may still have messages on their way.
    for domain in random.sample(DOMAINS, len(DOMAINS)):
        with suppress(ConfigError), _on(domain), ExitStack() as held:
            held.enter_context(take_domain_lock("test"))
            take_domain_lock().close()  # no robot is on it
            return domain, held.pop_all()
    raise ConfigError("tests or robots are on all ROS domains from 1 to 101: end some of them")


@contextmanager
def _on(domain: int) -> Iterator[None]:
    settings = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"}
    before = {name: os.environ.pop(name) for name in settings if name in os.environ}
    os.environ.update(settings)
    try:
        yield
    finally:
        for name in settings:
            os.environ.pop(name, None)
        os.environ.update(before)


@dataclass(frozen=True, slots=True)
class UnreleasedResources:
    """Resources of this process that a call has not released."""

    blocks: int  # of Python's memory; an object has one or more
    memory: int  # [kB] of anonymous pages
    descriptors: int  # open files


def kept_by(run: Callable[[], object]) -> UnreleasedResources:
    """Return the resources that `run` keeps. Bounded buffers must be full before."""
    before = _held()
    run()
    after = _held()
    return UnreleasedResources(*(now - then for now, then in zip(after, before, strict=True)))


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
