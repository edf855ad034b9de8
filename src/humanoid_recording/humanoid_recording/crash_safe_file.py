"""A file that always ends with a whole record."""

import os
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from humanoid_control_common.errors import RobotError


class BagError(RobotError):
    """A bag can't be written or read."""


class CrashSafeFile:
    """A new file with the methods that the writer of MCAP calls, with whole records.

    Unbuffered: written data survive the end of this process.

    Raises FileExistsError or another OSError if the file can't be made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO = path.open("xb", buffering=0)
        self.size = 0  # bytes written
        self.broken = False  # a write has failed

    def write(self, data: bytes) -> int:
        """Write all of `data`, or nothing. Raises BagError with the system's reason."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.broken = True
            with suppress(OSError):  # a disk that is gone; a reader leaves out a cut record
                self._file.truncate(self.size)
            raise BagError(
                f"{self._path}: {error.strerror}; what was written before is whole: "
                "`hc replay` reads it"
            ) from error
        self.size += len(data)
        return len(data)

    def tell(self) -> int:
        """Return the position of the next record [bytes]."""
        return self.size

    def flush(self) -> None:
        """Wait until everything is on the disk: the robot may lose power at any time.

        Raises BagError if the disk fails.
        """
        try:
            os.fdatasync(self._file.fileno())
        except OSError as error:
            self.broken = True
            raise BagError(f"{self._path}: {error.strerror}") from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()
