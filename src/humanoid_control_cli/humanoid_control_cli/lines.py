"""Cuts what a process writes into whole lines."""

from __future__ import annotations

LONGEST_LINE = 65536  # bytes; what is longer is cut, so that no process can fill the memory


class LineCutter:
    """Takes a stream of bytes as it comes and gives it back in lines, without their newlines."""

    def __init__(self, longest: int = LONGEST_LINE) -> None:
        self._longest = longest
        self._rest = b""

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        while len(self._rest) > self._longest:
            lines.append(self._rest[: self._longest])
            self._rest = self._rest[self._longest :]
        return lines

    def finish(self) -> list[bytes]:
        """The last line, if the stream ended without a newline."""
        rest, self._rest = self._rest, b""
        return [rest] if rest else []
