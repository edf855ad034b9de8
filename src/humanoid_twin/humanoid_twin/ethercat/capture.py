"""Frames in a pcap file, with the ring's time: for wireshark, tshark and tests."""

from pathlib import Path
from struct import Struct
from typing import Final

_HEADER: Final = Struct("<IHHiIII")
_RECORD: Final = Struct("<IIII")
_NANOSECONDS: Final = 0xA1B23C4D  # magic number of a pcap file with nanoseconds
_ETHERNET: Final = 1
_SECOND: Final = 1_000_000_000


class Capture:
    """Writes frames in the order of their arrival; `flush` makes them visible to readers."""

    def __init__(self, path: Path) -> None:
        """Overwrite the file. Raises OSError if it can't be written."""
        self._file = path.open("wb")
        self._file.write(_HEADER.pack(_NANOSECONDS, 2, 4, 0, 0, 0xFFFF, _ETHERNET))

    def add(self, now: int, frame: memoryview | bytes) -> None:
        """Write a frame at ring time `now` [ns]."""
        seconds, nanoseconds = divmod(now, _SECOND)
        self._file.write(_RECORD.pack(seconds, nanoseconds, len(frame), len(frame)))
        self._file.write(frame)

    def flush(self) -> None:
        """Write out the buffer."""
        self._file.flush()

    def close(self) -> None:
        """Write out the buffer and close the file."""
        self._file.close()


def read_capture(path: Path) -> list[tuple[int, bytes]]:
    """Return the whole frames of a file of `Capture`, finished or not: (ring time [ns], frame)."""
    data = path.read_bytes()
    frames, position = [], _HEADER.size
    while position + _RECORD.size <= len(data):
        seconds, nanoseconds, length, _ = _RECORD.unpack_from(data, position)
        position += _RECORD.size
        if position + length > len(data):
            break
        frames.append((seconds * _SECOND + nanoseconds, data[position : position + length]))
        position += length
    return frames
