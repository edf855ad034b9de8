"""A memory limit for some processes only; the memory of the machine is not limited.

A control group of the kernel has a limit, and a program in it allocates all memory. The kernel
then ends the process with the highest oom_score_adj, as it does when the memory of a whole machine
runs out. A whole machine also becomes slow before that; this module does not show it.
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

SCARCE: Final = 32 << 20  # [bytes] for later allocations
FIRST: Final = 1000  # oom_score_adj of the process that is ended first
# The kernel ends the largest process. A control process has less memory than this, and more than
# the other processes.
ROOM: Final = 320 << 20  # [bytes]
_LONGEST_END: Final = 5.0  # [s] until a process that the kernel ends has disappeared
_LOOK: Final = 0.01  # [s]
_GREED: Final = "import sys; hoard = [b'x' * (1 << 20) for _ in range(int(sys.argv[1]) >> 20)]"


class SmallMemory:
    """A control group for processes until `release`. Needs root."""

    def __init__(self) -> None:
        self._home, self._limit = _place()
        self._group = self._home / f"hc_faults_{os.getpid()}"

    def run_out(self, processes: Iterable[int], room: int) -> None:
        """Move processes to the group, and let a program allocate its memory until that ends.

        `room`: [bytes] for their later allocations and for the program.
        """
        self._group.mkdir(exist_ok=True)
        (self._group / self._limit).write_text(str(room))
        for process in processes:
            _move(process, self._group)
        enter = f'echo $$ > {self._group}/cgroup.procs && exec "$0" -c "$1" "$2"'
        # An upper limit: if it fails, there is no danger.
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
            except OSError as error:  # a process was forked, or an ending one is not listed
                if error.errno != errno.EBUSY or time.monotonic() > deadline:
                    raise
                time.sleep(_LOOK)


def _move(process: int, group: Path) -> None:
    with suppress(ProcessLookupError):  # the process has ended
        (group / "cgroup.procs").write_text(str(process))


def _place() -> tuple[Path, str]:
    """Return the folder of control groups and the name of their limit, for version 1 or 2."""
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if "memory" in controllers.split(","):
            return Path(f"/sys/fs/cgroup/memory{path}"), "memory.limit_in_bytes"
    return Path("/sys/fs/cgroup"), "memory.max"
