"""Print one line per step of a long run, with its seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO


class Progress:
    """Numbers the steps; on a terminal the seconds of the running step are counted up."""

    def __init__(self, total: int, out: TextIO = sys.stdout) -> None:
        self._total = total
        self._number = 0
        self._out = out

    @contextmanager
    def step(self, title: str) -> Iterator[Callable[[], None]]:
        """Announce a step, and yield a function that refreshes its line until the block ends."""
        self._number += 1
        line = f"setup: [{self._number}/{self._total}] {title} ... "
        again = "\r" + line if self._out.isatty() else ""
        start = time.monotonic()
        self._write(line)

        def refresh() -> None:
            if again:
                self._write(f"{again}{time.monotonic() - start:.0f} s")

        try:
            yield refresh
        except BaseException:
            self._write("\n")
            raise
        self._write(f"{again}{time.monotonic() - start:.0f} s\n")

    def _write(self, text: str) -> None:
        self._out.write(text)
        self._out.flush()
