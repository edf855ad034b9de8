"""Processor time used by the campaign and its robot."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

_TICK: Final = 1.0 / os.sysconf("SC_CLK_TCK")  # [s]
_LOOK: Final = 1.0  # [s] between two searches for new processes


class OwnTime:
    """Processor time of a process and of all its descendants."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._processes: list[int] = []
        self._look_at = 0.0  # [s] monotonic

    def used(self) -> float:
        """Return the sum [s] so far; an ended process counts until its parent ends."""
        now = time.monotonic()
        if now >= self._look_at:
            self._look_at = now + _LOOK
            self._processes = family(self._root)
        return sum(map(_used, self._processes))


def family(root: int) -> list[int]:
    """Return `root` and its descendants."""
    children: dict[int, list[int]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended
            parent = int(_fields(file.read_text())[1])
            children.setdefault(parent, []).append(int(file.parent.name))
    found = [root]
    for process in found:
        found += children.get(process, [])
    return found


def _used(process: int) -> float:
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except OSError:  # the process has ended
        return 0.0
    return sum(map(int, _fields(text)[11:15])) * _TICK  # utime, stime, cutime, cstime


def _fields(stat: str) -> list[str]:
    """Return the fields after the name, which may have spaces: state, parent, and so on."""
    return stat.rpartition(")")[2].split()
