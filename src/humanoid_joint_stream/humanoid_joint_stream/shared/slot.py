"""A slot of shared memory: one process writes whole values, others read the newest.

Two halves are written in turns. Each has a checksum, so that a reader never accepts a half-written
value, also on processors that reorder writes, and from a writer that was killed.
"""

import struct
from typing import Final
from zlib import crc32

_HEAD: Final = struct.Struct("@QII")  # number, checksum of what follows, unused
_TRIES: Final = 3


class Slot:
    """Values of `size` bytes in `memory`, from `at` on, a multiple of 8. Its memory begins as 0."""

    def __init__(self, memory: memoryview, at: int, size: int) -> None:
        self._memory, self._size = memory, size
        self._newest = memory[at : at + 8].cast("Q")  # number of the newest value; 0: none
        self._half = _HEAD.size + (size + 7) // 8 * 8
        self._first = at + 8

    @staticmethod
    def bytes_for(size: int) -> int:
        """Return the memory that values of `size` bytes need."""
        return 8 + 2 * (_HEAD.size + (size + 7) // 8 * 8)

    @property
    def number(self) -> int:
        """The number of the newest value; 0: none. Numbers rise by 1."""
        return self._newest[0]

    def write(self, value: bytes) -> int:
        """Write a value; return its number. Called by one writer only."""
        number = self._newest[0] + 1
        at = self._first + number % 2 * self._half
        start = at + _HEAD.size
        _HEAD.pack_into(self._memory, at, 0, 0, 0)  # not whole from now on
        self._memory[start : start + self._size] = value
        _HEAD.pack_into(self._memory, at, number, crc32(value), 0)
        self._newest[0] = number
        return number

    def read(self) -> tuple[int, bytes] | None:
        """Return number and bytes of the newest value; None if there is none, or no whole one."""
        for _ in range(_TRIES):
            number = self._newest[0]
            if number == 0:
                return None
            at = self._first + number % 2 * self._half
            start = at + _HEAD.size
            value = bytes(self._memory[start : start + self._size])
            found, checksum, _ = _HEAD.unpack_from(self._memory, at)
            if found == number and checksum == crc32(value):
                return number, value
        return None
