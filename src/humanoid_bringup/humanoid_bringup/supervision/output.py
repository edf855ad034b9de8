"""The common output stream of all processes: whole lines, each with its label."""

import os
import select
from collections.abc import Sequence
from typing import Final, TextIO

# `poll` promises that so many bytes can be written to a pipe without waiting.
CHUNK: Final = select.PIPE_BUF
# Bytes that may wait for a slow reader before the processes have to wait, too.
FULL: Final = 1 << 20
OWN_STYLE: Final = "1"  # bold
STYLES: Final = ("36", "35", "32", "33", "34")  # cyan, magenta, green, yellow, blue


def supports_colour(stream: TextIO) -> bool:
    """Return True if `stream` is a terminal and NO_COLOR is not set (no-color.org)."""
    return stream.isatty() and not os.environ.get("NO_COLOR")


class Output:
    """Labelled lines, written to `descriptor` without ever blocking.

    Args:
        own_label: the label of the supervisor's own lines.
        labels: those of the processes, in the order in which they are given colours.
        colour: whether labels are coloured, for a terminal.
    """

    def __init__(
        self, descriptor: int, own_label: str, labels: Sequence[str], *, colour: bool
    ) -> None:
        self.descriptor = descriptor
        self.broken = False  # True once its reader has closed it
        self._own_label = own_label
        self._pending = bytearray()
        width = max(map(len, (own_label, *labels)))
        styles = {label: STYLES[i % len(STYLES)] for i, label in enumerate(labels)}
        self._prefixes = {
            label: _prefix(label.ljust(width), style if colour else "")
            for label, style in (styles | {own_label: OWN_STYLE}).items()
        }

    @property
    def pending(self) -> bool:
        """True if bytes wait to be written."""
        return bool(self._pending)

    @property
    def full(self) -> bool:
        """True if so many bytes wait that no more should be read."""
        return len(self._pending) >= FULL

    def add(self, label: str, line: bytes) -> None:
        """Append a line of the process `label`."""
        if not self.broken:
            self._pending += self._prefixes[label] + line + b"\n"

    def say(self, text: str) -> None:
        """Append lines of the supervisor itself."""
        for line in text.splitlines():
            self.add(self._own_label, line.encode())

    def write_some(self) -> None:
        """Write at most what doesn't block; call when `poll` reports the descriptor writable."""
        try:
            written = os.write(self.descriptor, self._pending[:CHUNK])
        except OSError:  # a closed pipe or a terminal that hung up
            self.broken = True
            self._pending.clear()
        else:
            del self._pending[:written]


def _prefix(label: str, style: str) -> bytes:
    # The leading reset ends a colour that the previous line left switched on.
    return (f"\x1b[0;{style}m{label} |\x1b[0m " if style else f"{label} | ").encode()
