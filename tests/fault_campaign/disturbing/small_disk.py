"""A small disk that can be filled."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

SIZE: Final = "64m"  # of memory: filling it takes 0.2 s
_FILLER: Final = "filler"


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """Mount a file system in memory at `place` while the context is open. Needs root."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> None:
    """Fill the disk at once, so that the next steps are not late."""
    with (place / _FILLER).open("wb", buffering=0) as file, suppress(OSError):
        status = os.fstatvfs(file.fileno())
        os.posix_fallocate(file.fileno(), 0, status.f_bavail * status.f_frsize)
        file.seek(0, os.SEEK_END)
        while True:  # other processes may have freed space
            file.write(bytes(1 << 12))


def make_room(place: Path) -> None:
    """Remove the file that fills the disk."""
    (place / _FILLER).unlink(missing_ok=True)
