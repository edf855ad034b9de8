"""A disk that is soon full."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

SIZE: Final = "256m"  # of memory; the files of a black box that wait to be read have room
_FILLER: Final = "filler"


@contextmanager
def small_disk(place: Path) -> Iterator[None]:
    """A file system in memory at `place` while it is open. Needs root."""
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "none", str(place)], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path) -> None:
    """Leave no room on the disk."""
    with (place / _FILLER).open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))


def make_room(place: Path) -> None:
    """Take away what filled it."""
    (place / _FILLER).unlink(missing_ok=True)
