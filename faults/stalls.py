"""Moments in which this machine had no time for the robot, noticed by processes that only wait.

One on each core, as urgent as the control loop, that sends itself datagrams and characters over a
serial line, too: what carries frames from one interface to another, and bytes through a virtual
line, is the kernel's own, and not urgent. And an ordinary one.
Run as `python -m faults.stalls CORE` (-1: an ordinary one) each says on stdout, for every gap that
is too long, when it ended [s, monotonic] and how long it was [s].
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
from typing import IO, Final, Self

from faults.programs import WITH_US
from humanoid_controller_manager.realtime import LOOP_PRIORITY, make_thread_realtime

URGENT: Final = 0.008  # [s] a loop of 50 Hz and its buses don't always survive
# Nor two gaps that make two frames in a row late: each has 8 ms for its way through several waits.
SHORT: Final = 0.003  # [s]
IN_A_ROW: Final = 0.03  # [s] from one to the next, at 50 Hz
ORDINARY: Final = 0.05  # [s] the impedance manager, or a stream of commands, doesn't
_SLEEP: Final = 0.001  # [s]
_LOST: Final = 0.5  # [s] a datagram is waited for


class Stalls:
    """Gaps, while it is open."""

    def __init__(self) -> None:
        cores = [-1, *sorted(os.sched_getaffinity(0))]
        self._watchers = [
            subprocess.Popen(
                [*WITH_US, sys.executable, "-m", "faults.stalls", str(core)],
                stdout=subprocess.PIPE,
            )
            for core in cores
        ]
        self._gaps: list[tuple[float, float]] = []  # end and length [s]
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
        """The longest gap [s] between two times on the monotonic clock [s]; 0: none."""
        for output in self._outputs():
            for line in iter(output.readline, b""):
                at, length = line.split()
                self._gaps.append((float(at), float(length)))
        self._gaps = [gap for gap in self._gaps if gap[0] >= begin]
        return longest([(at, length) for at, length in self._gaps if at - length <= end])

    def _outputs(self) -> Iterator[IO[bytes]]:
        for watcher in self._watchers:
            assert watcher.stdout is not None  # a pipe
            yield watcher.stdout


def longest(gaps: Sequence[tuple[float, float]]) -> float:
    """The longest [s] of those that matter by themselves or by coming in a row; 0: none.

    `gaps` are end and length [s] each; several watchers may tell of the same.
    """
    return max(
        (
            length
            for at, length in gaps
            if length > URGENT or any(SHORT < abs(at - other) < IN_A_ROW for other, _ in gaps)
        ),
        default=0.0,
    )


def _watch(core: int) -> None:
    """Never returns."""
    limit = ORDINARY
    mirrors: list[Mirror] = []
    if core >= 0:
        limit = SHORT
        os.sched_setaffinity(0, {core})
        make_thread_realtime(LOOP_PRIORITY)
        mirrors = [datagrams(), serial_line()]
    before = time.monotonic()
    while True:
        time.sleep(_SLEEP)
        for mirror in mirrors:
            mirror.reflect(before)
        now = time.monotonic()
        if now - before > limit:
            sys.stdout.write(f"{now} {now - before}\n")
            sys.stdout.flush()
        before = now


class Mirror:
    """Two descriptors: what is written to the one can be read from the other."""

    def __init__(self, into: int, out: int) -> None:
        self.into, self.out = into, out
        os.set_blocking(out, False)
        self._readable = select.poll()
        self._readable.register(out, select.POLLIN)

    def reflect(self, stamp: float) -> None:
        """Write something that differs from all before, and wait for it; not for ever."""
        sent = struct.pack("d", stamp)
        os.write(self.into, sent)
        deadline = time.monotonic() + _LOST
        seen = b""
        while not seen.endswith(sent) and time.monotonic() < deadline:
            if self._readable.poll(_LOST * 1e3):
                seen += os.read(self.out, 4096)


def datagrams() -> Mirror:
    """Through the loopback interface."""
    mirror = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    mirror.bind(("127.0.0.1", 0))
    mirror.connect(mirror.getsockname())
    descriptor = mirror.detach()
    return Mirror(descriptor, descriptor)


def serial_line() -> Mirror:
    """Through a pseudo-terminal, as the virtual adapter's bytes go."""
    adapter, host = os.openpty()
    tty.setraw(host)
    return Mirror(host, adapter)


if __name__ == "__main__":
    with suppress(KeyboardInterrupt, BrokenPipeError):
        _watch(int(sys.argv[1]))
