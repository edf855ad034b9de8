"""Read the capture of a ring's frames."""

from pathlib import Path

from humanoid_twin.ethercat.port import HEADER, RECORD, SECOND


def read_capture(path: Path) -> list[tuple[int, bytes]]:
    """Return the whole frames of a file of `Capture`, finished or not: (ring time [ns], frame)."""
    data = path.read_bytes()
    frames, position = [], HEADER.size
    while position + RECORD.size <= len(data):
        seconds, nanoseconds, length, _ = RECORD.unpack_from(data, position)
        position += RECORD.size
        if position + length > len(data):
            break
        frames.append((seconds * SECOND + nanoseconds, data[position : position + length]))
        position += length
    return frames
