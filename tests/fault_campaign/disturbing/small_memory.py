"""A memory limit for some processes only; the machine's memory stays as it is.

A control group of the kernel with a limit, and a program in it that takes all there is. What the
kernel does then (it ends the process that it is told to spare least) is what it does when a
machine's whole memory runs out; that everything else gets slow before that isn't shown.
"""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from fault_campaign.programs import WITH_US

SCARCE: Final = 32 << 20  # [bytes] for what is allocated from now on
FIRST: Final = 1000  # oom_score_adj of the process that is ended first
# The kernel ends the largest process. A control process has less than this, and more than others.
ROOM: Final = 320 << 20  # [bytes]
_LONGEST_END: Final = 5.0  # [s] of a process that the kernel has ended, until it is gone
_LOOK: Final = 0.01  # [s]
_GREED: Final = "import sys; hoard = [b'x' * (1 << 20) for _ in range(int(sys.argv[1]) >> 20)]"


class SmallMemory:
    """A group that processes are put into until `release`. Needs root."""

    def __init__(self) -> None:
        self._home, self._limit = _place()
        self._group = self._home / f"hc_faults_{os.getpid()}"

    def run_out(self, processes: Iterable[int], room: int) -> None:
        """Put processes in and have a program take all of it; returns when that has ended.

        `room`: [bytes] for what they allocate from now on, and for the program.
        """
        self._group.mkdir(exist_ok=True)
        (self._group / self._limit).write_text(str(room))
        for process in processes:
            _move(process, self._group)
        enter = f'echo $$ > {self._group}/cgroup.procs && exec "$0" -c "$1" "$2"'
        # At most: a limit that fails is no danger.
        words = [sys.executable, _GREED, str(2 * room)]
        subprocess.run([*WITH_US, "sh", "-c", enter, *words], check=False)

    @staticmethod
    def give_up(process: int) -> None:
        """Mark the process that is ended first."""
        Path(f"/proc/{process}/oom_score_adj").write_text(str(FIRST))

    def release(self) -> None:
        """Move the rest of the group back to its former group. Raises OSError on failure."""
        deadline = time.monotonic() + _LONGEST_END
        while self._group.exists():
            for process in (self._group / "cgroup.procs").read_text().split():
                _move(int(process), self._home)
            try:
                self._group.rmdir()
            except OSError as error:  # one was forked meanwhile, or is ending: not listed any more
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK)


def _move(process: int, group: Path) -> None:
    with suppress(ProcessLookupError):  # it has ended meanwhile
        (group / "cgroup.procs").write_text(str(process))


def _place() -> tuple[Path, str]:
    """Return the folder of groups and the name of their limit: control groups version 1 or 2."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return Path(f"/sys/fs/cgroup/memory{path}"), "memory.limit_in_bytes"
    return Path("/sys/fs/cgroup"), "memory.max"
