"""A ring whose log is not read runs in constant memory."""

import gc
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from humanoid_devices_erob.protocol import coe

SECONDS = [10.0, pytest.param(3600.0, marks=pytest.mark.soak)]
PERIOD = 0.02  # [s] of the process data
FEW = 200  # blocks: records of the latest events
ARENAS = 4096  # [kB]: Python asks for memory by the megabyte
READING = coe.UploadRequest(0x603F, 0)


def work(master: Any, seconds: float) -> None:
    """Exchange process data at 50 Hz; at every exchange one drive gets an SDO request."""
    for exchange in range(round(seconds / PERIOD)):
        master.exchange()
        master.ask(exchange % master.count, READING)
        master.wait(PERIOD)
        for drive in master.drives:  # stubs record all calls: this is not the ring's memory
            drive.latched.clear()
            drive.faults.clear()


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


@pytest.mark.parametrize("seconds", SECONDS)
def test_a_ring_in_operation_keeps_nothing_of_an_hour(
    new_master: Callable[..., Any], seconds: float
) -> None:
    master = new_master(3)
    master.operational()
    work(master, 1.0)
    for _ in range(6_000):
        master.ask(0, READING)  # two lines: the log is full
    kept = kept_by(lambda: work(master, seconds))
    assert kept.blocks < FEW
    assert kept.memory < ARENAS
    assert kept.descriptors == 0


def test_a_log_that_has_dropped_lines_reports_how_many_and_begins_anew(
    new_master: Callable[..., Any],
) -> None:
    ring = new_master(2).ring
    for number in range(10_007):
        ring.log.add(1, "read", {"index": number})
    dropped, *lines = ring.log.take()
    assert dropped[1:] == (-1, "dropped", {"lines": 7})
    assert [detail["index"] for _, _, _, detail in lines] == list(range(7, 10_007))
    ring.log.add(0, "state", {"state": 2})
    assert [line[1:] for line in ring.log.take()] == [(0, "state", {"state": 2})]
    assert ring.log.take() == []


def test_clocks_of_a_ring_that_runs_for_long_are_read_behind_the_end_of_32_bits(
    new_master: Callable[..., Any],
) -> None:
    """Receive times have 32 bits [ns]: they restart at 0 every 4.3 s."""
    master = new_master(3)
    differences = set()
    for seconds in (0.0, 4.0, 0.29, 0.004, 1000.0):
        master.wait(seconds)
        master.number_slaves()
        for slave in range(3):
            assert master.write(slave, 0x0900, bytes(4)) == 1
        forth = [master.number(slave, 0x0900, 4) for slave in range(3)]
        back = [master.number(slave, 0x0904, 4) for slave in range(2)]
        differences.add(tuple((back[i] - forth[i]) % (1 << 32) for i in range(2)))
    assert len(differences) == 1
