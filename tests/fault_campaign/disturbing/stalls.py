"""Detect times in which this machine did not run the robot, by processes that wait.

One watcher runs on each core. It is more urgent than all threads of the stack, so they cannot hold
it up. It also sends itself datagrams, and characters over a serial line: the kernel carries both
by threads that are not urgent. One more watcher has no priority, so the programs of the campaign
can hold it up. It measures the share of a gap that they have used.
`python -m fault_campaign.disturbing.stalls CORE` (-1: no priority) prints for every gap that is
too long: its end [s, monotonic], its length [s], and the share of the campaign.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import subprocess
import sys
import time
import tty
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Final, Self

from fault_campaign.disturbing.own_time import OwnTime
from fault_campaign.programs import WITH_US, module
from humanoid_control_common.machine.realtime import make_thread_realtime

URGENT: Final = 0.008  # [s] a loop of 50 Hz and its buses don't always survive
# Nor two gaps that make two frames in a row late: a frame has 8 ms for its way, with several waits.
SHORT: Final = 0.003  # [s]
IN_A_ROW: Final = 0.03  # [s] from one to the next, at 50 Hz
ORDINARY: Final = 0.05  # [s] the impedance manager, or a stream of commands, does not
OURS: Final = 0.5  # share of a gap from which the campaign itself is the reason, and no excuse
# SCHED_FIFO: above the loop's 80 and the virtual robot's 90.
PRIORITY: Final = 95
_SLEEP: Final = 0.001  # [s]
_CALM_SLEEP: Final = 0.02  # [s] without priority: it reads a file for each process of the campaign
_LOST: Final = 0.5  # [s] timeout of a datagram


@dataclass(frozen=True, slots=True)
class Gap:
    """One gap in which a watcher did not run."""

    end: float  # [s] monotonic
    length: float  # [s]
    ours: float = 0.0  # share of the time of all processors that the processes of the campaign used


class Stalls:
    """Records the gaps while the context is open."""

    def __init__(self) -> None:
        cores = [-1, *sorted(os.sched_getaffinity(0))]
        self._watchers = [
            subprocess.Popen(
                [*WITH_US, *module("disturbing.stalls", str(core))],
                stdout=subprocess.PIPE,
            )
            for core in cores
        ]
        self._gaps: list[Gap] = []
        for output in self._outputs():
            os.set_blocking(output.fileno(), False)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for watcher in self._watchers:
            watcher.kill()
            watcher.wait()
        for output in self._outputs():
            output.close()

    def worst(self, begin: float, end: float) -> float:
        """Return the longest gap [s] between two times on the monotonic clock [s]; 0: none.

        Raises RuntimeError if a watcher has ended. Gaps before `begin` are forgotten.
        """
        for watcher in self._watchers:
            if watcher.poll() is not None:
                raise RuntimeError(f"a watcher has ended: exit code {watcher.returncode}")
        for output in self._outputs():
            for line in iter(output.readline, b""):
                self._gaps.append(Gap(*map(float, line.split())))
        self._gaps = [gap for gap in self._gaps if gap.end >= begin]
        return longest([gap for gap in self._gaps if gap.end - gap.length <= end])

    def _outputs(self) -> Iterator[IO[bytes]]:
        for watcher in self._watchers:
            assert watcher.stdout is not None  # a pipe
            yield watcher.stdout


def longest(gaps: Sequence[Gap]) -> float:
    """Return the longest gap [s] that matters by itself or in a row of gaps; 0: none.

    Several watchers may report the same gap.
    """
    others = [gap for gap in gaps if gap.ours < OURS]
    return max(
        (
            gap.length
            for gap in others
            if gap.length > URGENT
            or any(SHORT < abs(gap.end - other.end) < IN_A_ROW for other in others)
        ),
        default=0.0,
    )


def _watch_core(core: int) -> None:
    """Never returns."""
    os.sched_setaffinity(0, {core})
    make_thread_realtime(PRIORITY)
    mirrors = [datagrams(), serial_line()]
    before = time.monotonic()
    while True:
        time.sleep(_SLEEP)
        for mirror in mirrors:
            mirror.reflect(before)
        now = time.monotonic()
        if now - before > SHORT:
            _tell(Gap(now, now - before))
        before = now


def _watch_ordinary() -> None:
    """Never returns."""
    own = OwnTime(os.getppid())
    processors = len(os.sched_getaffinity(0))
    before, used = time.monotonic(), own.used()
    while True:
        time.sleep(_CALM_SLEEP)
        now, using = time.monotonic(), own.used()
        if now - before > ORDINARY:
            _tell(Gap(now, now - before, (using - used) / (processors * (now - before))))
        before, used = now, using


def _tell(gap: Gap) -> None:
    sys.stdout.write(f"{gap.end} {gap.length} {gap.ours}\n")
    sys.stdout.flush()


class Mirror:
    """Two descriptors: bytes written to the first can be read from the second."""

    def __init__(self, into: int, out: int) -> None:
        self.into, self.out = into, out
        os.set_blocking(out, False)
        self._readable = select.poll()
        self._readable.register(out, select.POLLIN)

    def reflect(self, stamp: float) -> None:
        """Write bytes that were not used before, and wait for them up to a timeout."""
        sent = struct.pack("d", stamp)
        os.write(self.into, sent)
        deadline = time.monotonic() + _LOST
        seen = b""
        while not seen.endswith(sent) and time.monotonic() < deadline:
            if self._readable.poll(_LOST * 1e3):
                seen += os.read(self.out, 4096)


def datagrams() -> Mirror:
    """Return the two ends of a connection through the loopback interface."""
    mirror = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    mirror.bind(("127.0.0.1", 0))
    mirror.connect(mirror.getsockname())
    descriptor = mirror.detach()
    return Mirror(descriptor, descriptor)


def serial_line() -> Mirror:
    """Return the two ends of a pseudo-terminal, which the virtual adapter uses, too."""
    adapter, host = os.openpty()
    tty.setraw(host)
    return Mirror(host, adapter)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        _core = int(sys.argv[1])
        _watch_ordinary() if _core < 0 else _watch_core(_core)
